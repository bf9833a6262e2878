import { Inject, Injectable } from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { Problem } from '../../platform/errors/problem';
import { Humans, readDecider, Requester, samePerson } from '../people/same-person';
import { AuthenticatedCall, Author, authorOf } from './call';

/** The decider of a request. */
export interface Decider {
  call: AuthenticatedCall;
  humans: Humans;
  /** Whether only a personal key may decide. */
  mustBePerson: boolean;
}

/** Identifies deciders, by their keys only. */
@Injectable()
export class FourEyesService {
  constructor(
    private readonly prisma: SidePrisma,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  async deciderOf(call: AuthenticatedCall): Promise<Decider> {
    return {
      call,
      humans: await readDecider(this.prisma, call.caller.keyId),
      mustBePerson: this.settings.dualControl,
    };
  }

  /** Requires a decider other than the requester. See {@link requireAnotherPerson}. @throws Problem */
  async require(call: AuthenticatedCall, requester: Requester, text?: string): Promise<Author> {
    return requireAnotherPerson(await this.deciderOf(call), requester, text);
  }
}

/**
 * Requires a decider other than the requester: another client, another key and, if a person made the request,
 * another person's key. With dual control, the decider is always a person.
 * @throws Problem `own_approval`, `personal_key_required`.
 */
export function requireAnotherPerson(
  { call, humans, mustBePerson }: Decider,
  requester: Requester,
  text?: string,
): Author {
  const { clientId, clientName, keyId, identity } = call.caller;
  if (clientId === requester.clientId || keyId === requester.keyId || samePerson(requester.humans, humans)) {
    throw new Problem('own_approval', text === undefined ? {} : { text });
  }
  if (identity === null && (requester.isPerson || mustBePerson)) {
    throw requester.isPerson
      ? new Problem('own_approval', {
          text:
            'A person made this request, so another person must decide, with a personal key. ' +
            needsPersonalKey(clientName),
        })
      : new Problem('personal_key_required', {
          text:
            'With dual control, only a person decides about a payment, with a personal key. ' +
            `Nothing was decided. ${needsPersonalKey(clientName)}`,
        });
  }
  return authorOf(call);
}

/** Returns the instructions for a personal key. */
export function needsPersonalKey(clientName: string): string {
  return (
    'Your key is not a personal key, and X-Actor does not count. ' +
    `The operator can issue a personal key: keys issue --client ${clientName} --person ….`
  );
}
