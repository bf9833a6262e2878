import { Controller, Delete, Param, Query } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/route-access';
import { AuthenticatedCall, changedBy, CurrentCall } from '../../access/auth/call';
import { ClientsService } from '../../access/clients/clients.service';
import { EphemeralKeysService } from '../../access/ephemeral/ephemeral-keys.service';
import { RevokedEphemeralKeysDto } from '../../credentials/ephemeral-keys/ephemeral-keys.dto';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { asProblem } from './waiting';
import { RevocationDto } from './clients.dto';
import { ApiClientName, ApiSummary } from '../../platform/schema/routes';

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
  @ApiSummary("Revoke a client's ephemeral keys", 'The client can make new ones.')
  @ApiClientName()
  @ApiResponse({ status: 200, type: RevokedEphemeralKeysDto, description: 'The revoked keys.' })
  @ApiKeyProblems('invalid_request', 'client_not_found')
  async revokeClientEphemeralKeys(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') name: string,
    @Query() { reason }: RevocationDto,
  ): Promise<RevokedEphemeralKeysDto> {
    const client = await this.clients.find(name).catch(asProblem);
    return { revoked: await this.keys.revoke(client, {}, changedBy(call, reason)) };
  }
}
