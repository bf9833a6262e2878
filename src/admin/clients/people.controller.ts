import { Body, Controller, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import {
  AuthenticatedCall,
  changeAuthorOf,
  CurrentCall,
  mayReveal,
  maySeePeople,
} from '../../access/auth/call';
import { Allow, Shows } from '../../access/auth/route-access';
import { StepUp } from '../../access/auth/step-up';
import { fromPermissions } from '../../access/clients/grants';
import { DualControlService } from '../../access/dual-control/dual-control.service';
import { isRequestedChange } from '../../access/dual-control/pending-changes';
import { pendingResponse, PENDING_RESPONSE, WaitingDto } from '../../access/dual-control/pending-response';
import { OwnLimits } from '../../access/people/person';
import { ListedPerson, PersonExceptionsService } from '../../access/people/person-exceptions';
import {
  PersonRef,
  NamedPerson,
  PersonRevocationsService,
} from '../../access/people/person-revocations.service';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { maskContacts } from '../../platform/privacy/contacts';
import { idBefore, rowsToRead, toPage } from '../../platform/schema/page';
import { ApiClientName, ApiId, ApiSummary } from '../../platform/schema/routes';
import { PayerUsage, SpendingService } from '../../policy/spending.service';
import { toUsage } from '../limits/cap';
import { asProblem } from './as-problem';
import { MergedPeopleDto, MergePeopleDto, RevokedPersonDto, RevokePersonDto } from './changes.dto';
import { ChangePersonDto, LimitPersonDto, PersonDto, PersonsDto, PersonSearch } from './person-limits.dto';

/** Lists the people of a client, and sets their own limits. */
@ApiTags('Clients')
@Controller('v1/clients/:name/persons')
export class PersonLimitsController {
  constructor(
    private readonly exceptions: PersonExceptionsService,
    private readonly dualControl: DualControlService,
    private readonly spending: SpendingService,
  ) {}

  @Get()
  @Allow('admin')
  @Shows<PersonsDto>(({ persons }) => ({ rows: persons.length, people: persons.length > 0 }))
  @ApiSummary("List a client's people")
  @ApiClientName()
  @ApiResponse({ status: 200, type: PersonsDto, description: 'One page.' })
  @ApiKeyProblems('invalid_request', 'client_not_found')
  async listPersons(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') client: string,
    @Query() search: PersonSearch,
  ): Promise<PersonsDto> {
    const { name } = search;
    if (name !== undefined && name !== maskContacts(name) && !maySeePeople(call)) {
      throw new Problem('scope_missing', {
        text: 'A search for an email address or phone number also requires the scope audit:pii.',
      });
    }
    const filters = { before: idBefore(search), name, limit: rowsToRead(search) };
    const people = await this.exceptions.list(client, filters).catch(asProblem);
    const { rows, nextPageToken } = toPage(people, search);
    const usages = await this.spending.ofPayers(rows.map(({ id }) => id));
    return {
      persons: rows.map((person) => toPersonDto(call, person, usages)),
      next_page_token: nextPageToken,
    };
  }

  @Get(':id')
  @Allow('admin')
  @Shows<PersonDto>(() => ({ rows: 1, people: true }))
  @ApiSummary('Read a person')
  @ApiClientName()
  @ApiId("The person's ID.")
  @ApiResponse({ status: 200, type: PersonDto, description: 'The person.' })
  @ApiKeyProblems('client_not_found', 'person_not_found')
  async readPerson(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') client: string,
    @Param('id') id: string,
  ): Promise<PersonDto> {
    return this.read(call, client, id);
  }

  @Post()
  @HttpCode(200)
  @Allow('admin')
  @StepUp()
  @ApiSummary('Set the limits of a person by name', 'A new person is added.')
  @ApiClientName()
  @ApiResponse({ status: 200, type: PersonDto, description: 'The person.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: PENDING_RESPONSE })
  @ApiKeyProblems('invalid_request', 'client_not_found', 'personal_key_required', 'step_up_required')
  async limitPerson(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') client: string,
    @Body() body: LimitPersonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PersonDto | WaitingDto> {
    const { name, issuer = null, reason } = body;
    const id = await this.exceptions
      .add(client, { name, issuer }, changeAuthorOf(call, reason))
      .catch(asProblem);
    return this.limit(call, { client, id, change: fromPermissions(body), reason }, reply);
  }

  @Patch(':id')
  @Allow('admin')
  @StepUp()
  @ApiSummary('Change the limits of a person')
  @ApiClientName()
  @ApiId("The person's ID.")
  @ApiResponse({ status: 200, type: PersonDto, description: 'The person.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: PENDING_RESPONSE })
  @ApiKeyProblems(
    'invalid_request',
    'client_not_found',
    'person_not_found',
    'personal_key_required',
    'step_up_required',
  )
  async changePerson(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') client: string,
    @Param('id') id: string,
    @Body() body: ChangePersonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PersonDto | WaitingDto> {
    return this.limit(call, { client, id, change: fromPermissions(body), reason: body.reason }, reply);
  }

  private async limit(
    call: AuthenticatedCall,
    {
      client,
      id,
      change,
      reason,
    }: { client: string; id: string; change: Partial<OwnLimits>; reason: string | undefined },
    reply: FastifyReply,
  ): Promise<PersonDto | WaitingDto> {
    const waits = await this.dualControl
      .limitPerson(client, id, change, changeAuthorOf(call, reason))
      .catch(asProblem);
    if (waits) return pendingResponse(waits, reply);
    return this.read(call, client, id);
  }

  private async read(call: AuthenticatedCall, client: string, id: string): Promise<PersonDto> {
    const person = await this.exceptions.one(client, id).catch(asProblem);
    return toPersonDto(call, person, await this.spending.ofPayers([person.id]));
  }
}

/** Adds a person's spending, and masks contacts in the name, because some providers use them as subjects. */
function toPersonDto(
  call: AuthenticatedCall,
  person: ListedPerson,
  usages: Map<string, PayerUsage>,
): PersonDto {
  const usage = usages.get(person.id);
  if (!usage) throw new Error('a person has no caps');
  const name = person.name === null || mayReveal(call) ? person.name : maskContacts(person.name);
  const caps = { daily: usage.dailyCapUsd, monthly: usage.monthlyCapUsd };
  return { ...person, name, usage: toUsage(caps, usage) };
}

/** Merges people into one human. */
@ApiTags('Clients')
@Controller('v1/person-merges')
export class PersonMergesController {
  constructor(private readonly dualControl: DualControlService) {}

  @Post()
  @HttpCode(200)
  @Allow('admin')
  @StepUp()
  @ApiSummary(
    'Merge two people',
    'Both are one human from then on, who cannot request as one and decide as the other. Their spending ' +
      'at one client counts together. Each keeps their limits and calls. The approver must be neither of ' +
      'them. A merge cannot be undone.',
  )
  @ApiResponse({ status: 200, type: MergedPeopleDto, description: 'Both people.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: PENDING_RESPONSE })
  @ApiKeyProblems('invalid_request', 'person_not_found', 'personal_key_required', 'step_up_required')
  async mergePeople(
    @CurrentCall() call: AuthenticatedCall,
    @Body() { kept, merged, reason }: MergePeopleDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MergedPeopleDto | WaitingDto> {
    const done = await this.dualControl
      .mergePeople({ kept, merged }, changeAuthorOf(call, reason))
      .catch(asProblem);
    return isRequestedChange(done) ? pendingResponse(done, reply) : done;
  }
}

/** Ends the credentials of the people of a client. */
@ApiTags('Clients')
@Controller('v1/clients/:name/persons')
export class PersonRevocationsController {
  constructor(private readonly revocations: PersonRevocationsService) {}

  @Post('revoke')
  @HttpCode(200)
  @Allow('admin')
  @ApiSummary(
    'End the credentials of a person',
    'Earlier access tokens, ephemeral keys and page sessions of the person are rejected immediately, on ' +
      'every instance. Later ones are accepted, so also block the person at the identity provider.',
  )
  @ApiClientName()
  @ApiResponse({ status: 200, type: RevokedPersonDto, description: 'Time of the revocation.' })
  @ApiKeyProblems('invalid_request', 'client_not_found', 'person_not_found')
  async revokePerson(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') client: string,
    @Body() body: RevokePersonDto,
  ): Promise<RevokedPersonDto> {
    return this.revocations
      .revoke(client, personIn(body), changeAuthorOf(call, body.reason))
      .catch(asProblem);
  }
}

/** @throws Problem `invalid_request` unless the body identifies the person in exactly one way. */
function personIn({ person_id: id, name, issuer }: RevokePersonDto): NamedPerson | PersonRef {
  if (id === undefined && name !== undefined) return { name, issuer: issuer ?? null };
  const fields = Object.entries({ name, issuer }).filter(([, value]) => value !== undefined);
  if (id !== undefined && fields.length === 0) return { id };
  const faults =
    id === undefined
      ? [{ pointer: '/name', detail: 'is required without person_id' }]
      : fields.map(([field]) => ({ pointer: `/${field}`, detail: 'must be left out with person_id' }));
  throw new Problem('invalid_request', { faults });
}
