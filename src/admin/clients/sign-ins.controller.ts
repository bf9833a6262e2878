import { Body, Controller, Inject, Param, Post, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { StepUp } from '../../access/auth/step-up';
import { GovernanceService, isWaiting } from '../../access/governance/governance.service';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { asProblem } from './as-problem';
import { changedBy } from '../../access/auth/changed-by';
import { WaitingDto } from './changes.dto';
import { NewSignInDto } from './client-answers.dto';
import { AllowSignInDto } from './clients.dto';
import { expiryOf } from './expiry';
import { waiting, WAITS } from './waiting';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { ApiClientName, ApiSummary } from '../../platform/schema/routes';

/** Lets people sign in at the OpenID provider as a client. */
@ApiTags('Clients')
@Controller('v1/clients/:name/sign-ins')
export class SignInsController {
  constructor(
    private readonly governance: GovernanceService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  @Post()
  @Allow('admin')
  @StepUp()
  @ApiSummary(
    'Let a person sign in as a client',
    'The person signs in at the OpenID provider and has the scopes of the client. To end it, revoke the key of the person, `DELETE /v1/clients/{name}/keys/{id}`.',
  )
  @ApiClientName()
  @ApiResponse({ status: 201, type: NewSignInDto, description: 'The person may sign in.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: WAITS })
  @ApiKeyProblems(
    ...(['invalid_request', 'client_not_found', 'incompatible_scopes', 'personal_key_required'] as const),
    ...(['public_client', 'sign_in_exists', 'no_provider', 'step_up_required'] as const),
  )
  async allowSignIn(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') name: string,
    @Body() { person, subject, expires_at, reason }: AllowSignInDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NewSignInDto | WaitingDto> {
    const issuer = this.settings.openIdProvider?.issuer;
    if (issuer === undefined) throw new Problem('no_provider');
    const expiresAt = expiryOf(expires_at);
    const by = changedBy(call, reason);
    const allowed = await this.governance
      .allowSignIn(name, { issuer, subject, person, expiresAt }, by)
      .catch(asProblem);
    if (isWaiting(allowed)) return waiting(allowed, reply);
    return { id: allowed.id, client: name, person, issuer, subject, expires_at: expiresAt ?? null };
  }
}
