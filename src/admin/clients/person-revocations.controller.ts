import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { KnownPerson, NamedPerson, PersonRevocationsService } from '../../access/people/person-revocations.service';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { asProblem } from './as-problem';
import { changedBy } from '../../access/auth/changed-by';
import { RevokedPersonDto, RevokePersonDto } from './person-revocations.dto';
import { ApiClientName, ApiSummary } from '../../platform/schema/routes';

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
    'Access tokens, ephemeral keys and page sessions of the person from before are rejected immediately, on ' +
      'every instance. Those issued later are accepted, so block the person at the identity provider, too.',
  )
  @ApiClientName()
  @ApiResponse({ status: 200, type: RevokedPersonDto, description: 'Time of the revocation.' })
  @ApiKeyProblems('invalid_request', 'client_not_found', 'person_not_found')
  async revokePerson(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') client: string,
    @Body() body: RevokePersonDto,
  ): Promise<RevokedPersonDto> {
    return this.revocations.revoke(client, whomIn(body), changedBy(call, body.reason)).catch(asProblem);
  }
}

/** @throws Problem `invalid_request` unless the body says in one way whom it means. */
function whomIn({ person_id: id, name, issuer }: RevokePersonDto): NamedPerson | KnownPerson {
  if (id === undefined && name !== undefined) return { name, issuer: issuer ?? null };
  const given = Object.entries({ name, issuer }).filter(([, value]) => value !== undefined);
  if (id !== undefined && given.length === 0) return { id };
  const faults =
    id === undefined
      ? [{ pointer: '/name', detail: 'is required without person_id' }]
      : given.map(([field]) => ({ pointer: `/${field}`, detail: 'must be left out with person_id' }));
  throw new Problem('invalid_request', { faults });
}
