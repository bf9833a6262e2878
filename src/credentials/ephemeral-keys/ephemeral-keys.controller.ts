import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Decimal } from 'decimal.js';
import { AuthenticatedCall, changeAuthorOf, CurrentCall, remainingMs } from '../../access/auth/call';
import { ownerOf } from '../../access/auth/owner';
import { Allow, missingScopes, operationProblem, SecretKeysOnly } from '../../access/auth/route-access';
import { Caller } from '../../access/callers/caller';
import { readUsd } from '../../access/clients/limits/limit-fields';
import { Beneficiary } from '../../access/clients/register-writes';
import { EphemeralKeyFilter, EphemeralKeysService } from '../../access/ephemeral/ephemeral-keys.service';
import { Person } from '../../access/people/person';
import { PersonsService } from '../../access/people/persons.service';
import { BENEFICIARY_MUST, readBeneficiary } from '../../http/validation/rules/beneficiary-text';
import { isOperation, scopesOf } from '../../operations/catalogue/catalogue';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Fault, Problem } from '../../platform/errors/problem';
import { idBefore, LONG_PAGE, rowsToRead, toPage } from '../../platform/schema/page';
import { ApiId, ApiSummary } from '../../platform/schema/routes';
import { canonicalCountry } from '../../recipients/country-name';
import { unknownCountries } from '../../recipients/unknown-countries';
import {
  EphemeralKeyPage,
  EphemeralKeySearch,
  EphemeralKeysOf,
  IssuedEphemeralKeyDto,
  NewEphemeralKeyDto,
  RevokedEphemeralKeysDto,
} from './ephemeral-keys.dto';

/** Issues keys that an app's server hands to a phone or a page. */
@ApiTags('Ephemeral keys')
@Controller('v1/ephemeral-keys')
export class EphemeralKeysController {
  constructor(
    private readonly keys: EphemeralKeysService,
    private readonly persons: PersonsService,
  ) {}

  @Post()
  @Allow('pay', 'write', 'read')
  @SecretKeysOnly()
  @ApiSummary(
    'Make an ephemeral key for a person',
    'For secret keys of servers, with the scopes of the operations. The key is valid for minutes, has no ' +
      'more rights than your key, and ends with it. With a personal key, the person must be its owner.',
  )
  @ApiResponse({
    status: 201,
    type: IssuedEphemeralKeyDto,
    description: 'The key. It is shown only once.',
  })
  @ApiKeyProblems('invalid_request', 'secret_key_required', 'wider_than_key')
  async createEphemeralKey(
    @CurrentCall() call: AuthenticatedCall,
    @Body() body: NewEphemeralKeyDto,
  ): Promise<IssuedEphemeralKeyDto> {
    const { caller } = call;
    const unknown = unknownCountries(body.countries ?? []);
    if (unknown.length > 0) throw new Problem('invalid_request', { faults: unknown });
    const recipients = body.recipients === undefined ? null : readRecipients(body.recipients);
    const name = { issuer: null, name: body.actor };
    const person = await this.persons.find(caller, name, {
      timeoutMs: remainingMs(call),
      isPayment: false,
    });
    const faults = privilegeFaults(call, person, body);
    if (faults.length > 0) throw new Problem('wider_than_key', { faults });
    const grant = {
      person,
      operations: [...new Set(body.operations)],
      countries: asListed(caller.limits.countries, body.countries ?? []),
      recipients,
      maxItemUsd: new Decimal(body.max_item),
      maxTotalUsd: new Decimal(body.max_total),
      expiresInSeconds: body.expires_in,
    };
    return this.keys.issue(caller, grant, changeAuthorOf(call, undefined));
  }

  @Get()
  @Allow('pay', 'write', 'read')
  @SecretKeysOnly()
  @ApiSummary(
    'List ephemeral keys of your client',
    'For secret keys of servers. A personal key lists those of its owner.',
  )
  @ApiResponse({ status: 200, type: EphemeralKeyPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request', 'secret_key_required')
  async listEphemeralKeys(
    @CurrentCall() call: AuthenticatedCall,
    @Query() search: EphemeralKeySearch,
  ): Promise<EphemeralKeyPage> {
    const filters = ownOf(call, { actor: search.actor, before: idBefore(search) });
    const found = await this.keys.list(call.caller.clientId, filters, rowsToRead(search, LONG_PAGE));
    const { rows, nextPageToken } = toPage(found, search, { sizes: LONG_PAGE });
    return { ephemeral_keys: rows, next_page_token: nextPageToken };
  }

  @Delete()
  @Allow('pay', 'write', 'read')
  @SecretKeysOnly()
  @ApiSummary(
    'Revoke all ephemeral keys of a person',
    'For secret keys of servers. Requests with the keys are rejected immediately, on every instance.',
  )
  @ApiResponse({ status: 200, type: RevokedEphemeralKeysDto, description: 'The revoked keys.' })
  @ApiKeyProblems('invalid_request', 'secret_key_required')
  async revokeEphemeralKeys(
    @CurrentCall() call: AuthenticatedCall,
    @Query() { actor }: EphemeralKeysOf,
  ): Promise<RevokedEphemeralKeysDto> {
    return this.revoke(call, { actor });
  }

  @Delete(':id')
  @Allow('pay', 'write', 'read')
  @SecretKeysOnly()
  @ApiSummary(
    'Revoke an ephemeral key',
    'For secret keys of servers. Requests with the key are rejected immediately, on every instance. ' +
      'Revoking it again changes nothing.',
  )
  @ApiId('ID of the key.')
  @ApiResponse({ status: 200, type: RevokedEphemeralKeysDto, description: 'The revoked key.' })
  @ApiKeyProblems('secret_key_required', 'ephemeral_key_not_found')
  async revokeEphemeralKey(
    @CurrentCall() call: AuthenticatedCall,
    @Param('id') id: string,
  ): Promise<RevokedEphemeralKeysDto> {
    const found = isUuid(id) ? await this.keys.list(call.caller.clientId, ownOf(call, { id }), 1) : [];
    if (found.length === 0) throw new Problem('ephemeral_key_not_found');
    return this.revoke(call, { id });
  }

  private async revoke(
    call: AuthenticatedCall,
    filter: EphemeralKeyFilter,
  ): Promise<RevokedEphemeralKeysDto> {
    const { caller } = call;
    const client = { id: caller.clientId, name: caller.clientName };
    return { revoked: await this.keys.revoke(client, ownOf(call, filter), changeAuthorOf(call, undefined)) };
  }
}

/** Narrows a filter to the keys visible to the caller: its client's or, for a personal key, its owner's. */
function ownOf(call: AuthenticatedCall, filter: EphemeralKeyFilter): EphemeralKeyFilter {
  const { person } = ownerOf(call);
  return person ? { ...filter, ownerId: person.id } : filter;
}

function readRecipients(texts: string[]): Beneficiary[] {
  const read = texts.map(readBeneficiary);
  const faults = read.flatMap((recipient, index) =>
    recipient === undefined ? [{ pointer: `/recipients/${index}`, detail: BENEFICIARY_MUST }] : [],
  );
  if (faults.length > 0) throw new Problem('invalid_request', { faults });
  return read.filter((recipient) => recipient !== undefined);
}

/** Lists the rights of a new ephemeral key that its parent or its person lacks. */
function privilegeFaults(
  call: AuthenticatedCall,
  person: Person,
  { operations, countries = [], max_item }: NewEphemeralKeyDto,
): Fault[] {
  const { caller } = call;
  const owner = ownerOf(call).person;
  const isAnother = owner !== null && owner.id !== person.id;
  return [
    ...(isAnother
      ? [{ pointer: '/actor', detail: 'must be the owner of your key, because the key is personal' }]
      : []),
    ...operations.flatMap((operation, index) =>
      faultOf(`/operations/${index}`, reasonAgainst(caller, operation)),
    ),
    ...countriesNotAllowed(caller, countries),
    ...faultOf('/max_item', overMaxItem(caller, person, readUsd(max_item))),
  ];
}

/** Returns the countries in the spelling of the client's list, for later look-ups. */
function asListed(listed: string[], countries: string[]): string[] {
  const spellings = new Map(listed.map((country) => [canonicalCountry(country), country]));
  return [...new Set(countries.map((country) => spellings.get(canonicalCountry(country)) ?? country))];
}

function reasonAgainst(caller: Caller, operation: string): string | undefined {
  const notAllowed = 'must be an operation that your client may use';
  if (!isOperation(operation)) return notAllowed;
  if (scopesOf(operation).includes('account'))
    return 'reaches the whole upstream account, which no ephemeral key may';
  const missing = missingScopes(caller, operation).join(' and ');
  if (missing) return `requires the scope ${missing}, which your key does not have`;
  return operationProblem(caller, operation) && notAllowed;
}

function countriesNotAllowed({ limits }: Caller, countries: string[]): Fault[] {
  if (limits.countries.length === 0) return [];
  const allowed = new Set(limits.countries.map(canonicalCountry));
  const detail = `must be a country that your client may pay to: ${limits.countries.join(', ')}`;
  return countries.flatMap((country, index) =>
    allowed.has(canonicalCountry(country)) ? [] : [{ pointer: `/countries/${index}`, detail }],
  );
}

function overMaxItem({ limits }: Caller, person: Person, maxItem: Decimal | undefined): string | undefined {
  const [ofClient, ofPerson] = [limits.maxItemUsd, person.limits.personMaxItemUsd];
  if (ofClient && maxItem?.greaterThan(ofClient))
    return `must be at most ${ofClient.toFixed()}, as for one item of your client`;
  return ofPerson && maxItem?.greaterThan(ofPerson)
    ? `must be at most ${ofPerson.toFixed()}, as for one item of this person`
    : undefined;
}

function faultOf(pointer: string, detail: string | undefined): Fault[] {
  return detail === undefined ? [] : [{ pointer, detail }];
}
