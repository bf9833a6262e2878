import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { AuthenticatedCall, changeAuthorOf, CurrentCall } from '../../access/auth/call';
import { Allow } from '../../access/auth/route-access';
import { StepUp } from '../../access/auth/step-up';
import { ClientsService } from '../../access/clients/clients.service';
import { fromPermissions } from '../../access/clients/grants';
import { lacksDailyCap } from '../../access/clients/limits/safe-defaults';
import { ListedClient } from '../../access/clients/listed';
import { DualControlService } from '../../access/dual-control/dual-control.service';
import { isRequestedChange } from '../../access/dual-control/pending-changes';
import { pendingResponse, PENDING_RESPONSE, WaitingDto } from '../../access/dual-control/pending-response';
import { EphemeralKeysService } from '../../access/ephemeral/ephemeral-keys.service';
import { RevokedEphemeralKeysDto } from '../../credentials/ephemeral-keys/ephemeral-keys.dto';
import { UpstreamService } from '../../gateway/upstream/upstream.service';
import { accountFaults } from '../../http/validation/rules/query-rules';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ApiClientName, ApiSummary } from '../../platform/schema/routes';
import { ClientSpending, SpendingService } from '../../policy/spending.service';
import { toUsage } from '../limits/cap';
import { asProblem } from './as-problem';
import { ClientDto, ClientsDto, NewClientDto } from './client-answers.dto';
import { NO_DAILY_CAP } from './client-rules';
import { ChangeClientDto, CreateClientDto, RevocationDto } from './clients.dto';
import { expiryOf } from './expiry';

const DUAL_CONTROL_PROBLEMS = [
  'invalid_request',
  'incompatible_scopes',
  'personal_key_required',
  'step_up_required',
] as const;

/** Manages client apps and their permissions. */
@ApiTags('Clients')
@Controller('v1/clients')
export class ClientsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly dualControl: DualControlService,
    private readonly spending: SpendingService,
    private readonly upstream: UpstreamService,
  ) {}

  @Get()
  @Allow('admin')
  @ApiSummary('List the clients')
  @ApiResponse({ status: 200, type: ClientsDto, description: 'All clients.' })
  @ApiKeyProblems()
  async listClients(): Promise<ClientsDto> {
    const clients = await this.clients.list();
    const spending = await this.spending.spentByAll();
    // Clients are permanent, so each listed client has spending.
    return { clients: clients.map((client) => withUsage(client, spending.get(client.id) as ClientSpending)) };
  }

  @Post()
  @Allow('admin')
  @StepUp()
  @ApiSummary(
    'Create a client, with its first key if it is a server',
    'Omitted and null limits do not apply. Clients that may pay or redeem need a daily cap or null. ' +
      '`GET /v1/activity` lists the change.',
  )
  @ApiResponse({
    status: 201,
    type: NewClientDto,
    description: 'The client and its key, shown only once. A public client has no key.',
  })
  @ApiResponse({ status: 202, type: WaitingDto, description: PENDING_RESPONSE })
  @ApiKeyProblems(...DUAL_CONTROL_PROBLEMS, 'client_exists', 'provider_taken')
  async createClient(
    @CurrentCall() call: AuthenticatedCall,
    @Body() body: CreateClientDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NewClientDto | WaitingDto> {
    const { account, kind, name, scopes, operations = null, person, reason } = body;
    if (account !== undefined) this.requireAccount(account);
    if (kind === 'public') requireNoKey(body);
    const expiresAt = kind === 'public' ? undefined : expiryOf(body.expires_at);
    const grants = { account, kind, operations, person, expiresAt, ...fromPermissions(body) };
    const created = await this.dualControl
      .create(name, scopes, grants, changeAuthorOf(call, reason))
      .catch(asProblem);
    if (isRequestedChange(created)) return pendingResponse(created, reply);
    const { key } = created;
    return {
      ...(await this.readClient(name)),
      ...(key !== undefined && { key, expires_at: expiresAt ?? null }),
    };
  }

  @Get(':name')
  @Allow('admin')
  @ApiSummary('Read a client')
  @ApiClientName()
  @ApiResponse({ status: 200, type: ClientDto, description: 'The client.' })
  @ApiKeyProblems('client_not_found')
  async readClient(@Param('name') name: string): Promise<ClientDto> {
    const client = await this.clients.find(name).catch(asProblem);
    return withUsage(client, await this.spending.spentBy(client.id));
  }

  @Patch(':name')
  @Allow('admin')
  @StepUp()
  @ApiSummary(
    'Change the permissions and limits of a client',
    'Omitted fields stay unchanged. Null removes a limit. The change applies from the next request. ' +
      '`GET /v1/activity` lists it with the state before and after.',
  )
  @ApiClientName()
  @ApiResponse({ status: 200, type: ClientDto, description: 'The changed client.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: PENDING_RESPONSE })
  @ApiKeyProblems(...DUAL_CONTROL_PROBLEMS, 'client_not_found', 'provider_taken')
  async changeClient(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') name: string,
    @Body() body: ChangeClientDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ClientDto | WaitingDto> {
    const change = fromPermissions(body);
    if (lacksDailyCap(await this.clients.find(name).catch(asProblem), change)) {
      throw new Problem('invalid_request', { faults: [{ pointer: '/daily_cap_usd', detail: NO_DAILY_CAP }] });
    }
    const client = await this.dualControl
      .update(name, change, changeAuthorOf(call, body.reason))
      .catch(asProblem);
    if (isRequestedChange(client)) return pendingResponse(client, reply);
    return withUsage(client, await this.spending.spentBy(client.id));
  }

  /** @throws Problem `invalid_request` if this instance does not know the account. */
  private requireAccount(name: string): void {
    const known = this.upstream.all().map((account) => account.name);
    const faults = accountFaults(name, known);
    if (faults.length > 0) throw new Problem('invalid_request', { faults });
  }
}

/** @throws Problem `invalid_request` for fields of a key, because a public client has none. */
function requireNoKey({ person, expires_at }: CreateClientDto): void {
  const detail = 'must be left out for a public client, which has no secret keys';
  const faults = Object.entries({ person, expires_at })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => ({ pointer: `/${name}`, detail }));
  if (faults.length > 0) throw new Problem('invalid_request', { faults });
}

function withUsage(client: ListedClient, spending: ClientSpending): ClientDto {
  const caps = { daily: client.daily_cap_usd, monthly: client.monthly_cap_usd };
  return { ...client, usage: toUsage(caps, spending) };
}

/** Ends all ephemeral keys of a client. */
@ApiTags('Clients')
@Controller('v1/clients/:name/ephemeral-keys')
export class ClientEphemeralKeysController {
  constructor(
    private readonly clients: ClientsService,
    private readonly keys: EphemeralKeysService,
  ) {}

  @Delete()
  @Allow('admin')
  @ApiSummary("Revoke a client's ephemeral keys", 'The client can create new ones.')
  @ApiClientName()
  @ApiResponse({ status: 200, type: RevokedEphemeralKeysDto, description: 'The revoked keys.' })
  @ApiKeyProblems('invalid_request', 'client_not_found')
  async revokeClientEphemeralKeys(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') name: string,
    @Query() { reason }: RevocationDto,
  ): Promise<RevokedEphemeralKeysDto> {
    const client = await this.clients.find(name).catch(asProblem);
    return { revoked: await this.keys.revoke(client, {}, changeAuthorOf(call, reason)) };
  }
}
