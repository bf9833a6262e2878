import { Controller, Delete, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply, FastifyRequest } from 'fastify';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { noPageSessionCookie, pageTokenOf } from '../../access/sessions/page-session-cookie';
import { PageSessionsService } from '../../access/sessions/page-sessions.service';
import { csrfTokenOf } from '../../access/sessions/session-cookie';
import { APP_SCOPES } from '../../operations/scopes';
import { clock } from '../../platform/database/clock';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { PageProvidersService } from '../openid/page-providers.service';
import { PageSessionRecord, PageSignOutQuery } from './page-sessions.dto';
import { pageReturnTo } from './return-to';
import { SignedOutRecord } from './session.dto';
import { signOutUrl } from './sign-out';
import { ApiSummary } from '../../platform/schema/routes';

const CLIENT = { name: 'client', description: 'Name of the client.' };

/** Tells pages of clients who is signed in, and signs people out. Browsers sign in at `/session/pages/{client}/sign-in`. */
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
    'For pages, by cookie. To sign in, open `/session/pages/{client}/sign-in?return_to=…` in the browser. Every other ' +
      'request of the session sends `csrf_token` in the header `X-CSRF-Token`.',
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
    @Query() { return_to: asked }: PageSignOutQuery,
  ): Promise<SignedOutRecord> {
    const token = pageTokenOf(request, client);
    if (caller.credential.kind !== 'session' || token === undefined) throw new Problem('session_ended');
    const returnTo = asked === undefined ? undefined : pageReturnTo(asked, caller.limits.origins);
    if (asked !== undefined && returnTo === undefined) throw new Problem('invalid_request', { faults: [FOREIGN_PAGE] });
    const idToken = await this.sessions.end(token).catch(databaseUnavailable);
    void reply.header('set-cookie', noPageSessionCookie(request, client));
    const pages = idToken === undefined ? undefined : await this.providers.find(client).catch(databaseUnavailable);
    if (idToken === undefined || pages === undefined) return { end_session_url: null };
    const signOut = { client, idToken, ...(returnTo !== undefined && { returnTo }) };
    return { end_session_url: await signOutUrl(request, reply, pages.provider, signOut) };
  }
}

const FOREIGN_PAGE = { pointer: '/return_to', detail: 'must be a URL of an origin that the client allows' };
