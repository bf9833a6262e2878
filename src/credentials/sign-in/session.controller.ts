import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Logger,
  Param,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply, FastifyRequest } from 'fastify';
import { AuthenticatedCall, CurrentCall } from '../../access/auth/call';
import { Allow } from '../../access/auth/route-access';
import {
  csrfTokenOf,
  noPageSessionCookie,
  noSessionCookie,
  pageTokenOf,
  sessionCookie,
} from '../../access/sessions/cookies';
import { PageSessionsService } from '../../access/sessions/page-sessions.service';
import { SessionsService } from '../../access/sessions/sessions.service';
import { APP_SCOPES, SCOPES } from '../../operations/catalogue/scopes';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { clock } from '../../platform/database/clock';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { ApiSummary } from '../../platform/schema/routes';
import { ConsoleProviderService, PageProvidersService } from '../openid/page-providers.service';
import { pageReturnTo } from './return-to';
import { PageSessionRecord, PageSignOutQuery, SessionRecord, SignedOutRecord } from './session.dto';
import { signOutUrl } from './sign-out';

/** Signs people in to the console, and out again. */
@ApiTags('Console')
@Controller('v1/session')
export class SessionController {
  private readonly logger = new Logger('Sessions');

  constructor(
    private readonly sessions: SessionsService,
    private readonly provider: ConsoleProviderService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  @Post()
  @HttpCode(200)
  @Allow(...SCOPES)
  @ApiSummary(
    'Sign in',
    'Send any key in the header `X-API-Key`. The response sets a cookie that replaces the key for `/v1`, ' +
      'but not for the interface. The browser stores no key. The session ends with its key, after some ' +
      'minutes of inactivity, and after twelve hours.',
  )
  @ApiResponse({
    status: 200,
    type: SessionRecord,
    description: 'The session.',
    headers: { 'Set-Cookie': { description: 'HttpOnly, SameSite=Strict.', schema: { type: 'string' } } },
  })
  @ApiKeyProblems('no_session', 'key_sign_in_off')
  async signIn(
    @CurrentCall() call: AuthenticatedCall,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionRecord> {
    const { caller } = call;
    if (call.sessionToken !== undefined) throw new Problem('no_session');
    if (!this.settings.keySignIn) throw new Problem('key_sign_in_off');
    const token = await this.sessions.begin(caller.keyId).catch(databaseUnavailable);
    this.logger.log(
      { call_id: call.id, client: caller.clientName, key_id: caller.keyId },
      'signed in to the console',
    );
    void reply.header('set-cookie', sessionCookie(request, token));
    return this.toRecord(call, token);
  }

  @Get()
  @Allow(...SCOPES)
  @ApiSummary('Read your session', 'For sessions, by cookie.')
  @ApiResponse({ status: 200, type: SessionRecord, description: 'The session.' })
  @ApiKeyProblems()
  readSession(@CurrentCall() call: AuthenticatedCall): SessionRecord {
    if (call.sessionToken === undefined) throw new Problem('session_ended');
    return this.toRecord(call, call.sessionToken);
  }

  @Delete()
  @Allow(...SCOPES)
  @ApiSummary(
    'Sign out',
    'Ends the session. To sign out at the OpenID provider, too, open `end_session_url` in the browser.',
  )
  @ApiResponse({ status: 200, type: SignedOutRecord, description: 'Done.' })
  @ApiKeyProblems()
  async signOut(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignedOutRecord> {
    const { sessionToken } = request.call;
    void reply.header('set-cookie', noSessionCookie(request));
    if (sessionToken === undefined) return { end_session_url: null };
    const idToken = await this.sessions.end(sessionToken).catch(databaseUnavailable);
    if (idToken === undefined) return { end_session_url: null };
    return { end_session_url: await signOutUrl(request, reply, this.provider.get(), { idToken }) };
  }

  private toRecord({ caller, signIn }: AuthenticatedCall, token: string): SessionRecord {
    const { clientName, keyId, identity, scopes } = caller;
    return {
      signed_in_with: signIn === undefined ? 'key' : 'provider',
      client: clientName,
      key_id: keyId,
      person: identity?.name ?? null,
      scopes: [...scopes],
      idle_minutes: this.settings.consoleIdleMinutes,
      csrf_token: csrfTokenOf(token),
      sandbox: this.settings.embeddedSandbox !== undefined,
    };
  }
}

const CLIENT = { name: 'client', description: 'Name of the client.' };

/** Returns and ends page sessions. Browsers sign in at `/session/pages/{client}/sign-in`. */
@ApiTags('Page sessions')
@Controller('v1/page-sessions')
export class PageSessionsController {
  constructor(
    private readonly sessions: PageSessionsService,
    private readonly providers: PageProvidersService,
  ) {}

  @Get(':client')
  @ApiParam(CLIENT)
  @Allow(...APP_SCOPES)
  @ApiSummary(
    'Read the page session',
    'For pages, by cookie. To sign in, open `/session/pages/{client}/sign-in?return_to=…` in the browser. ' +
      'Every other request of the session sends `csrf_token` in the header `X-CSRF-Token`.',
  )
  @ApiResponse({ status: 200, type: PageSessionRecord, description: 'The session.' })
  @ApiKeyProblems()
  readPageSession(
    @CurrentCall() call: AuthenticatedCall,
    @Req() request: FastifyRequest,
    @Param('client') client: string,
  ): PageSessionRecord {
    const { caller, person } = call;
    const { credential, clientName, scopes } = caller;
    const token = pageTokenOf(request, client);
    if (credential.kind !== 'session' || token === undefined) throw new Problem('session_ended');
    return {
      client: clientName,
      person_id: person?.id ?? '',
      scopes: [...scopes],
      csrf_token: csrfTokenOf(token),
      signed_in_at: credential.signedInAt?.toISOString() ?? null,
      ends_at: new Date(clock.nowMs() + credential.validUntil - performance.now()).toISOString(),
    };
  }

  @Delete(':client')
  @ApiParam(CLIENT)
  @Allow(...APP_SCOPES)
  @ApiSummary(
    'Sign out of a page',
    'Ends the session. To sign out at the OpenID provider, too, open `end_session_url` in the browser.',
  )
  @ApiResponse({ status: 200, type: SignedOutRecord, description: 'Done.' })
  @ApiKeyProblems()
  async endPageSession(
    @CurrentCall() { caller }: AuthenticatedCall,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('client') client: string,
    @Query() { return_to: url }: PageSignOutQuery,
  ): Promise<SignedOutRecord> {
    const token = pageTokenOf(request, client);
    if (caller.credential.kind !== 'session' || token === undefined) throw new Problem('session_ended');
    const returnTo = url === undefined ? undefined : pageReturnTo(url, caller.limits.origins);
    if (url !== undefined && returnTo === undefined)
      throw new Problem('invalid_request', { faults: [FOREIGN_PAGE] });
    const idToken = await this.sessions.end(token).catch(databaseUnavailable);
    void reply.header('set-cookie', noPageSessionCookie(request, client));
    const pages =
      idToken === undefined ? undefined : await this.providers.find(client).catch(databaseUnavailable);
    if (idToken === undefined || pages === undefined) return { end_session_url: null };
    const signOut = { client, idToken, ...(returnTo !== undefined && { returnTo }) };
    return { end_session_url: await signOutUrl(request, reply, pages.provider, signOut) };
  }
}

const FOREIGN_PAGE = { pointer: '/return_to', detail: 'must be a URL of an origin that the client allows' };
