import { Inject, Injectable } from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { SecretReloadService } from '../../platform/config/secret-reload.service';
import { Egress } from '../../platform/network/egress';
import { StepUpConfig } from '../../platform/config/sign-in-config';
import { OpenIdProvider } from './openid-provider';
import { SignInFailure } from './sign-in-failure';

/** The OpenID provider at which people sign in to the console. */
@Injectable()
export class ConsoleProviderService {
  /** What is required of those who approve and administer. Undefined: nothing. */
  readonly stepUp: StepUpConfig | undefined;
  /** Undefined if people sign in with keys. */
  readonly configured: OpenIdProvider | undefined;

  constructor(@Inject(SETTINGS) settings: RunningConfig, reload: SecretReloadService, egress: Egress) {
    const { openIdProvider, stepUp } = settings;
    this.stepUp = stepUp;
    if (!openIdProvider) return;
    const { clientSecret, ...registration } = openIdProvider;
    let secret = clientSecret;
    reload.watch('OIDC_CLIENT_SECRET', secret, (renewed) => (secret = renewed));
    this.configured = new OpenIdProvider({ ...registration, secret: () => secret }, egress);
  }

  /** @throws SignInFailure if people sign in with keys. */
  get(): OpenIdProvider {
    if (!this.configured) throw new SignInFailure('not_configured');
    return this.configured;
  }
}
