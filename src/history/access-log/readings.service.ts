import { Injectable } from '@nestjs/common';
import { FastifyRequest } from 'fastify';
import { Call, mayReveal } from '../../access/auth/call';
import { Readings, Shown } from '../../access/auth/shows';
import { isEndUser } from '../../access/people/person';
import { Problem } from '../../platform/errors/problem';
import { AccessJournal } from '../../journal/access-journal';
import { maskFilters, nameRecipient } from '../records/mask-filters';

/** Records who reads the history. */
@Injectable()
export class ReadingsService implements Readings {
  constructor(private readonly accesses: AccessJournal) {}

  async record({ call, query, method }: FastifyRequest, shown: Shown): Promise<void> {
    const { id, caller = null, person, operation, requestId, clientAddress } = call;
    const filters = { ...(shown.callId === undefined && filtersIn(query)), ...shown.about };
    try {
      await this.accesses.begin({
        id,
        caller,
        // An end user is named by the ID, because the record cannot be erased.
        actor: person && isEndUser(person) ? person.id : (person?.name ?? null),
        route: operation,
        requestId,
        clientAddress,
        filters,
        maskedFilters: maskFilters(filters),
        callId: shown.callId ?? null,
        callIds: shown.callIds ?? [],
        revealed: (shown.people && mayReveal(call)) || nameRecipient(filters) || shown.compares === true,
        rows: shown.rows,
      });
    } catch (cause) {
      throw new Problem('database_unavailable', { text: textFor(method, call), cause });
    }
  }
}

/**
 * Returns the filters of a validated query. Validated values are text. Other values occur only on routes without
 * filters.
 */
function filtersIn(query: unknown): Record<string, string> {
  const given = Object.entries(query as Record<string, unknown>);
  return Object.fromEntries(given.filter((one): one is [string, string] => typeof one[1] === 'string'));
}

function textFor(method: string, { operation }: Call): string {
  const because = 'your access to the history could not be recorded, so nothing is shown';
  if (method === 'GET')
    return `The database of the proxy cannot be reached or is too busy: ${because}. Try again in a moment.`;
  return `${operation} was carried out, but ${because}. Do not send it again. Read the call in a moment.`;
}
