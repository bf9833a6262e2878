import { Controller, Delete, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { changedBy } from '../../access/auth/changed-by';
import { CurrentCall } from '../../access/auth/current-call';
import { ClientsService } from '../../access/clients/clients.service';
import { EphemeralKeysService } from '../../access/ephemeral/ephemeral-keys.service';
import { RevokedEphemeralKeysDto } from '../../credentials/ephemeral-keys/ephemeral-keys.dto';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { asProblem } from './as-problem';
import { RevocationDto } from './clients.dto';

const NAME = { name: 'name', schema: { type: 'string' }, description: "The client's name." } as const;

/** Operators end all ephemeral keys of a client here. */
@ApiTags('Clients')
@Controller('v1/clients/:name/ephemeral-keys')
export class ClientEphemeralKeysController {
  constructor(
    private readonly clients: ClientsService,
    private readonly keys: EphemeralKeysService,
  ) {}

  @Delete()
  @Allow('admin')
  @ApiOperation({
    summary: "Revoke a client's ephemeral keys",
    operationId: 'revokeClientEphemeralKeys',
    description: 'Scope `admin`. The client can make new ones.',
  })
  @ApiParam(NAME)
  @ApiResponse({ status: 200, type: RevokedEphemeralKeysDto, description: 'The revoked keys.' })
  @ApiKeyProblems('invalid_request', 'client_not_found')
  async revokeAll(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') name: string,
    @Query() { reason }: RevocationDto,
  ): Promise<RevokedEphemeralKeysDto> {
    const client = await this.clients.find(name).catch(asProblem);
    return { revoked: await this.keys.revoke(client, {}, changedBy(call, reason)) };
  }
}
