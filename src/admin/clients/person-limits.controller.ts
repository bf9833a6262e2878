import { Body, Controller, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall, mayReveal, maySeePeople } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { Shows } from '../../access/auth/shows';
import { StepUp } from '../../access/auth/step-up';
import { GovernanceService } from '../../access/governance/governance.service';
import { fromPermissions } from '../../access/clients/permissions';
import { OwnLimits } from '../../access/people/person';
import { ListedPerson, PersonExceptionsService } from '../../access/people/person-exceptions.service';
import { maskContacts } from '../../history/records/masking';
import { idBefore, rowsToRead, toPage } from '../../platform/schema/page';
import { PayerUsage, SpendingService } from '../../policy/spending.service';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { toUsage } from '../limits/cap';
import { asProblem } from './as-problem';
import { changedBy } from '../../access/auth/changed-by';
import { WaitingDto } from './changes.dto';
import { ChangePersonDto, LimitPersonDto, PersonDto, PersonSearch, PersonsDto } from './person-limits.dto';
import { waiting, WAITS } from './waiting';
import { ApiClientName, ApiId, ApiSummary } from '../../platform/schema/routes';

/** Shows the people of a client, and gives some of them limits of their own. */
@ApiTags('Clients')
@Controller('v1/clients/:name/persons')
export class PersonLimitsController {
  constructor(
    private readonly exceptions: PersonExceptionsService,
    private readonly governance: GovernanceService,
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
        text: 'A search for a name that looks like an email address or phone number requires the scope audit:pii, too.',
      });
    }
    const filters = { before: idBefore(search), name, limit: rowsToRead(search) };
    const { rows, nextPageToken } = toPage(await this.exceptions.list(client, filters).catch(asProblem), search);
    const usages = await this.spending.ofPayers(rows.map(({ id }) => id));
    return { persons: rows.map((person) => shownTo(call, person, usages)), next_page_token: nextPageToken };
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
  @ApiSummary('Set the limits of a person by name', 'A person who was never seen is added.')
  @ApiClientName()
  @ApiResponse({ status: 200, type: PersonDto, description: 'The person.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: WAITS })
  @ApiKeyProblems('invalid_request', 'client_not_found', 'personal_key_required', 'step_up_required')
  async limitPerson(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') client: string,
    @Body() body: LimitPersonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PersonDto | WaitingDto> {
    const { name, issuer = null, reason } = body;
    const id = await this.exceptions.add(client, { name, issuer }, changedBy(call, reason)).catch(asProblem);
    return this.limit(call, { client, id, change: fromPermissions(body), reason }, reply);
  }

  @Patch(':id')
  @Allow('admin')
  @StepUp()
  @ApiSummary('Change the limits of a person')
  @ApiClientName()
  @ApiId("The person's ID.")
  @ApiResponse({ status: 200, type: PersonDto, description: 'The person.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: WAITS })
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
    const waits = await this.governance.limitPerson(client, id, change, changedBy(call, reason)).catch(asProblem);
    if (waits) return waiting(waits, reply);
    return this.read(call, client, id);
  }

  private async read(call: AuthenticatedCall, client: string, id: string): Promise<PersonDto> {
    const person = await this.exceptions.one(client, id).catch(asProblem);
    return shownTo(call, person, await this.spending.ofPayers([person.id]));
  }
}

/** Adds what a person has spent. Names may be contacts, if the provider uses them as subjects. */
function shownTo(call: AuthenticatedCall, person: ListedPerson, usages: Map<string, PayerUsage>): PersonDto {
  const usage = usages.get(person.id);
  if (!usage) throw new Error('a person has no caps');
  const name = person.name === null || mayReveal(call) ? person.name : maskContacts(person.name);
  return { ...person, name, usage: toUsage({ daily: usage.dailyCapUsd, monthly: usage.monthlyCapUsd }, usage) };
}
