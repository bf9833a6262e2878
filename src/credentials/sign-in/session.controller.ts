import { Controller, Delete, Get, HttpCode, Inject, Logger, Post, Req, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply, FastifyRequest } from 'fastify';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { csrfTokenOf, noSessionCookie, sessionCookie } from '../../access/sessions/session-cookie';
import { SessionsService } from '../../access/sessions/sessions.service';
import { SCOPES } from '../../operations/scopes';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { ConsoleProviderService } from '../openid/console-provider.service';
import { SessionRecord, SignedOutRecord } from './session.dto';
import { signOutUrl } from './sign-out';
import { ApiSummary } from '../../platform/schema/routes';

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
    'Send any key in the header `X-API-Key`. The response sets a cookie that replaces the key for `/v1`, but not ' +
      'for the interface. The browser stores no key. The session ends with its key, after some minutes without a ' +
      'request, and after twelve hours.',
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
    this.logger.log({ call_id: call.id, client: caller.clientName, key_id: caller.keyId }, 'signed in to the console');
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
    'The session has ended. To sign out at the OpenID provider, too, open `end_session_url` in the browser.',
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
