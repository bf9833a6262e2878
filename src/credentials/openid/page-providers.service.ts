import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Caller, CALLER_COLUMNS, callerOf, CallerRow } from '../../access/callers/caller';
import { OPENS } from '../../access/clients/key';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { pageSecretIn } from '../../platform/config/secrets/page-secrets';
import { Secret } from '../../platform/config/secrets/secret';
import { SecretReloadService } from '../../platform/config/secrets/secret-reload.service';
import { StepUpConfig } from '../../platform/config/sign-in-config';
import { GroupCommit } from '../../platform/database/pools/group-commit';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { REQUEST_TIMEOUT_MS } from '../../platform/database/pools/timeouts';
import { TYPES } from '../../platform/database/rows/binary-array';
import { Egress } from '../../platform/network/egress';
import { OpenIdProvider } from './openid-provider';
import { SignInFailure } from './sign-in-failure';

/** The OpenID provider of the console. */
@Injectable()
export class ConsoleProviderService {
  /** Step-up requirements of approvers and administrators. Undefined if step-up is off. */
  readonly stepUp: StepUpConfig | undefined;
  /** Undefined for sign-in with keys. */
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

  /** @throws SignInFailure without a configured provider. */
  get(): OpenIdProvider {
    if (!this.configured) throw new SignInFailure('not_configured');
    return this.configured;
  }
}

/** The pages of a client, with their provider. */
export interface ClientPages {
  /** The base caller of every page session, before its person is added. */
  caller: Caller;
  provider: OpenIdProvider;
}

interface PagesRow extends CallerRow {
  issuer: string;
  /** The ID of the client at the provider. */
  registeredAs: string;
}

const SELECT = `SELECT ${CALLER_COLUMNS}, c.page_issuer AS issuer, c.page_client_id AS "registeredAs"
  FROM client c JOIN api_key k ON k.client_id = c.id AND k.kind = 'page' AND ${OPENS}`;

const FIND_PAGES = `${SELECT} WHERE c.name = ANY ($1::text[]) AND c.page_issuer IS NOT NULL`;

const FIND_REGISTERED_PAGES = `${SELECT}
  JOIN unnest($1::text[], $2::text[]) AS registered(issuer, client_id)
    ON c.page_issuer = registered.issuer AND c.page_client_id = registered.client_id`;

/** Clients of one provider, by their IDs there. */
interface ProviderRegistrations {
  issuer: string;
  clientIds: string[];
}

/** Cache size. Above the number of clients with pages. */
const MAX_PROVIDERS = 1_000;

/**
 * Batch size. Above the number of sign-ins that begin at once. The route is public, so they share one
 * statement.
 */
const MAX_LOOK_UPS = 1_000;
const BATCHED = [() => 1, MAX_LOOK_UPS, { timeoutMs: REQUEST_TIMEOUT_MS }] as const;

/** Finds the OpenID providers of clients' pages. */
@Injectable()
export class PageProvidersService {
  private readonly providers = new LRUCache<string, OpenIdProvider>({ max: MAX_PROVIDERS });
  private readonly byName = new GroupCommit((names: string[]) => this.readNamed(names), ...BATCHED);
  private readonly byRegistration = new GroupCommit(
    (registrations: ProviderRegistrations[]) => this.readRegistered(registrations),
    ...BATCHED,
  );
  private secrets: Secret | undefined;

  constructor(
    private readonly prisma: SidePrisma,
    @Inject(SETTINGS) settings: RunningConfig,
    reload: SecretReloadService,
    private readonly egress: Egress,
  ) {
    this.secrets = settings.pageClientSecrets;
    reload.watch('PAGE_CLIENT_SECRETS', this.secrets, (renewed) => (this.secrets = renewed));
  }

  /** Finds the pages of a client. Undefined for an unknown client or one without page sign-ins. */
  async find(clientName: string): Promise<ClientPages | undefined> {
    const row = await this.byName.add(clientName, REQUEST_TIMEOUT_MS);
    return row && this.pagesOf(row);
  }

  /** Finds the pages of clients that are registered at a provider. */
  async findByRegistration(registered: ProviderRegistrations): Promise<ClientPages[]> {
    const rows = await this.byRegistration.add(registered, REQUEST_TIMEOUT_MS);
    return rows.map((row) => this.pagesOf(row));
  }

  private async readRegistered(registrations: ProviderRegistrations[]): Promise<PagesRow[][]> {
    const pairs = registrations.flatMap(({ issuer, clientIds }) => clientIds.map((id) => ({ issuer, id })));
    const values = [pairs.map(({ issuer }) => issuer), pairs.map(({ id }) => id)].map((texts) =>
      TYPES.text.array(texts),
    );
    const rows = await this.prisma.prepared<PagesRow>('find_registered_pages', FIND_REGISTERED_PAGES, values);
    const distinct = [...new Map(rows.map((row) => [row.clientId, row])).values()];
    return registrations.map(({ issuer, clientIds }) =>
      distinct.filter((row) => row.issuer === issuer && clientIds.includes(row.registeredAs)),
    );
  }

  private async readNamed(names: string[]): Promise<(PagesRow | undefined)[]> {
    const rows = await this.prisma.prepared<PagesRow>('find_pages', FIND_PAGES, [TYPES.text.array(names)]);
    const byName = new Map(rows.map((row) => [row.clientName, row]));
    return names.map((name) => byName.get(name));
  }

  private pagesOf(row: PagesRow): ClientPages {
    const { clientName, issuer, registeredAs: clientId } = row;
    const name = JSON.stringify([clientName, issuer, clientId]);
    const known = this.providers.get(name);
    if (known) return { caller: callerOf(row), provider: known };
    const secret = () => pageSecretIn(this.secrets, issuer, clientId);
    const provider = new OpenIdProvider({ issuer, clientId, secret, scopes: ['openid'] }, this.egress);
    this.providers.set(name, provider);
    return { caller: callerOf(row), provider };
  }
}
