import { CanActivate, ExecutionContext, Inject, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Decimal } from 'decimal.js';
import { FastifyRequest } from 'fastify';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { StepUpConfig } from '../../platform/config/sign-in-config';
import { Problem } from '../../platform/errors/problem';
import { Call } from './call';

const STEP_UP = 'payout-proxy:step-up';

/** Requires a recent or strong sign-in for a route, if step-up is configured. */
export const StepUp = () => SetMetadata(STEP_UP, true);

/** Requires a recent or strong sign-in of a person (RFC 9470). */
@Injectable()
export class StepUpService {
  constructor(@Inject(SETTINGS) private readonly settings: RunningConfig) {}

  /** @throws Problem `step_up_required` */
  require(call: Call): void {
    if (this.settings.stepUp === undefined || isEnough(call, this.settings.stepUp)) return;
    throw new Problem('step_up_required', {
      ...(call.signIn === undefined && { text: KEYS_CANNOT }),
      challenge: challengeFor(this.settings.stepUp),
    });
  }

  /** Requires step-up for a decision about an amount. @param usd decimal text. Undefined if unknown. */
  requireOver(call: Call, usd: string | undefined): void {
    if (usd === undefined || new Decimal(usd).greaterThan(this.settings.stepUp?.overUsd ?? 0))
      this.require(call);
  }
}

const KEYS_CANNOT =
  'This requires a recent sign-in of a person, which a key does not prove. Nothing was changed. ' +
  'Sign in to the console at the OpenID provider: open /session/sign-in?step_up=1 in a browser.';

/** Applies {@link StepUp} to routes. */
@Injectable()
export class StepUpGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly stepUp: StepUpService,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const isNeeded = this.reflector.get<boolean | undefined>(STEP_UP, context.getHandler()) ?? false;
    if (isNeeded) this.stepUp.require(context.switchToHttp().getRequest<FastifyRequest>().call);
    return true;
  }
}

function isEnough({ signIn }: Call, { maxAgeSeconds, acrValues }: StepUpConfig): boolean {
  if (signIn === undefined) return false;
  const { ageSeconds, acr } = signIn;
  const isRecent = maxAgeSeconds === undefined || (ageSeconds !== null && ageSeconds <= maxAgeSeconds);
  const isStrong = acrValues.length === 0 || (acr !== null && acrValues.includes(acr));
  return isRecent && isStrong;
}

function challengeFor({ maxAgeSeconds, acrValues }: StepUpConfig): string {
  const parameters = [
    'error="insufficient_user_authentication"',
    'error_description="A more recent or stronger sign-in is required"',
  ];
  if (acrValues.length > 0) parameters.push(`acr_values="${acrValues.join(' ')}"`);
  if (maxAgeSeconds !== undefined) parameters.push(`max_age="${maxAgeSeconds}"`);
  return `Bearer ${parameters.join(', ')}`;
}
