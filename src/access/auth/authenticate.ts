import { FastifyRequest } from 'fastify';
import { rowOf } from '../../operations/catalogue/catalogue';
import { within } from '../../platform/config/network/address-block';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { Caller } from '../callers/caller';
import { KeyCallersService } from '../callers/key-callers.service';
import { TokenCallersService } from '../callers/token-callers.service';
import { isEphemeralKey, isWellFormedKey } from '../clients/key';
import { isPersonId } from '../clients/sign-ins';
import { CallPerson } from '../people/person';
import { PersonsService } from '../people/persons.service';
import {
  hasCsrfToken,
  hasPageSession,
  pageTokenByCsrf,
  pageTokenOf,
  sessionTokenIn,
} from '../sessions/cookies';
import { PageSessionsService } from '../sessions/page-sessions.service';
import { SessionsService } from '../sessions/sessions.service';
import { isKey, SentToken, tokenIn } from '../tokens/access-token';
import { checkProof } from '../tokens/dpop-proof';
import { invalidProof, invalidToken, keyAsToken } from '../tokens/refusals';
import { UsedProofsService } from '../tokens/used-proofs.service';
import { AuthenticatedCall, Call, remainingMs } from './call';
import { KeyGuessing } from './key-guessing';
import { ownAddressOf } from './origins';
import { operationProblem } from './route-access';

export interface CallerServices {
  callers: KeyCallersService;
  sessions: SessionsService;
  pageSessions: PageSessionsService;
  tokens: TokenCallersService;
  proofs: UsedProofsService;
  guessing: KeyGuessing;
}

/** Safe methods (RFC 9110, section 9.2.1). */
const SAFE = ['GET', 'HEAD', 'OPTIONS'];

/** Route that returns a page its session. The page has no CSRF token yet. */
export const PAGE_SESSION_ROUTE = '/v1/page-sessions/:client';

/** Identifies the caller of a request: by a key, an access token, a page session, or a console session. */
export async function authenticate(request: FastifyRequest, services: CallerServices): Promise<Caller> {
  const key = request.headers['x-api-key'];
  const sent = tokenIn(request.headers.authorization);
  const hasKey = key !== undefined && key !== '';
  if (sent && (hasKey || repeatsAuthorization(request))) throw new Problem('several_credentials');
  if (!hasKey && isKey(request.headers.authorization)) throw keyAsToken();
  if (hasKey) return byKey(String(key), request, services);
  if (sent) return byToken(sent, request, services);
  return byCookie(request, services);
}

/** Returns whether Authorization is sent twice. Node reads the first, a proxy may have checked the other. */
function repeatsAuthorization({ raw }: FastifyRequest): boolean {
  const isName = (text: string, index: number) => index % 2 === 0 && text.toLowerCase() === 'authorization';
  return raw.rawHeaders.filter(isName).length > 1;
}

async function byCookie(request: FastifyRequest, services: CallerServices): Promise<Caller> {
  if (request.routeOptions.url === PAGE_SESSION_ROUTE) {
    const { client } = request.params as { client: string };
    return byPageSession({ client, token: pageTokenOf(request, client) }, request, services.pageSessions);
  }
  const pageToken = pageTokenByCsrf(request);
  if (pageToken !== undefined) return byPageSession(pageToken, request, services.pageSessions);
  const token = takesConsoleSessions(request) ? sessionTokenIn(request) : undefined;
  if (token !== undefined) return bySession(token, request, services.sessions);
  // The console ignores cookies of page sessions: it gets `missing_key` and shows its sign-in.
  const isOfPage = request.call.origin !== undefined || !takesConsoleSessions(request);
  throw new Problem(isOfPage && hasPageSession(request) ? 'csrf' : 'missing_key');
}

/** Returns whether the route accepts console sessions. Only `/v1` does: operators cannot pay by cookie. */
function takesConsoleSessions({ routeOptions, url }: FastifyRequest): boolean {
  return (routeOptions.url ?? url).startsWith('/v1/');
}

async function byKey(
  key: string,
  request: FastifyRequest,
  { callers, guessing }: CallerServices,
): Promise<Caller> {
  if (!isWellFormedKey(key)) throw guessing.problemOf(request.call.clientAddress);
  const lookUp = isAdmitted(request)
    ? callers.identifyForAdmission(key, remainingMs(request.call), (caller) => suffices(caller, request))
    : callers.identify(key, remainingMs(request.call));
  const caller = await lookUp.catch(databaseUnavailable);
  if (!caller) throw guessing.problemOf(request.call.clientAddress, unknownKey(key));
  return caller;
}

/** Returns the error of an unknown key. A restored database may lack an ephemeral key. Apps renew it. */
function unknownKey(key: string): Problem {
  return new Problem(isEphemeralKey(key) ? 'ephemeral_key_ended' : 'invalid_key');
}

async function byToken(sent: SentToken, request: FastifyRequest, services: CallerServices): Promise<Caller> {
  const { tokens, guessing } = services;
  const { call } = request;
  const lookUp = isAdmitted(request)
    ? tokens.identifyForAdmission(sent.token, remainingMs(call), (caller) => suffices(caller, request))
    : tokens.identify(sent.token, remainingMs(call));
  const caller = await lookUp.catch((error: unknown) => {
    const isForged = error instanceof Problem && error.code === 'invalid_token';
    throw isForged ? guessing.problemOf(call.clientAddress, error) : error;
  });
  await requireProof(sent, caller, request, services.proofs);
  return caller;
}

/**
 * Returns whether a cached caller suffices. A client with a rate limit is read from the database each time.
 */
function suffices(caller: Caller, { call, routeOptions }: FastifyRequest): boolean {
  const { operation } = routeOptions.config;
  const problem = sourceProblem(call, caller) ?? (operation && operationProblem(caller, operation));
  return caller.limits.requestsPerMinute === null && problem === undefined;
}

/** Identifies the caller of a page session. `whereFromProblem` checks the origin of the page later. */
async function byPageSession(
  { client, token }: { client: string; token: string | undefined },
  request: FastifyRequest,
  pageSessions: PageSessionsService,
): Promise<Caller> {
  if (token === undefined) throw new Problem('session_ended');
  const isRead = SAFE.includes(request.method) && request.routeOptions.url === PAGE_SESSION_ROUTE;
  if (!isRead && !hasCsrfToken(request, token)) throw new Problem('csrf');
  // An old browser ignores SameSite.
  if (request.headers['sec-fetch-site'] === 'cross-site') throw new Problem('csrf');
  const purpose = isAdmitted(request) ? 'forPayments' : 'forOthers';
  const caller = await pageSessions
    .identify(token, purpose, remainingMs(request.call))
    .catch(databaseUnavailable);
  // A cookie is valid for one client only.
  if (caller?.clientName !== client) throw new Problem('session_ended');
  return caller;
}

async function bySession(token: string, request: FastifyRequest, sessions: SessionsService): Promise<Caller> {
  // Precedes the database query. For browsers without Sec-Fetch-Site, the SameSite attribute protects.
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw new Problem('csrf');
  if (!SAFE.includes(request.method) && !hasCsrfToken(request, token)) throw new Problem('csrf');
  const session = await sessions.identify(token, remainingMs(request.call)).catch(databaseUnavailable);
  if (!session) throw new Problem('session_ended');
  request.call.sessionToken = token;
  if (session.signIn) request.call.signIn = session.signIn;
  return session.caller;
}

/** Returns whether the request passes admission, which rechecks the rights of its caller. */
export function isAdmitted({ routeOptions }: FastifyRequest): boolean {
  const { operation, isPreview } = routeOptions.config;
  return operation !== undefined && isPreview !== true && rowOf(operation).effect !== 'read';
}

/**
 * Requires the sender of a bound token to prove possession of its key (RFC 9449). A bound token is never
 * accepted as a bearer token, because a thief would send it that way.
 * @throws Problem `use_dpop`, `invalid_dpop_proof` or `invalid_token`.
 */
async function requireProof(
  { scheme, token }: SentToken,
  { credential }: Caller,
  request: FastifyRequest,
  proofs: UsedProofsService,
): Promise<void> {
  if (credential.kind !== 'token') return;
  const { jkt } = credential.claims;
  if (jkt === null && scheme === 'DPoP')
    throw invalidToken('it is not bound to a key (cnf.jkt), so it cannot be sent as DPoP');
  if (jkt === null) return;
  if (scheme === 'Bearer') throw new Problem('use_dpop');
  const { dpop } = request.headers;
  if (typeof dpop !== 'string') throw invalidProof('it is missing, or there are several');
  const proof = await checkProof(dpop, { method: request.method, url: ownAddressOf(request), token, jkt });
  await proofs.use(proof, isAdmitted(request), remainingMs(request.call));
}

/** Returns whether a caller may call from this address. A leaked key is useless elsewhere. */
export function isAllowedFrom({ limits }: Caller, address: string): boolean {
  return limits.addresses.length === 0 || within(limits.addresses)(address);
}

/** Returns the error of a call from a forbidden address or origin. Undefined if both are allowed. */
export function sourceProblem(
  { clientAddress, origin, sessionToken }: Pick<Call, 'clientAddress' | 'origin' | 'sessionToken'>,
  caller: Caller,
): Problem | undefined {
  if (!isAllowedFrom(caller, clientAddress)) return new Problem('address_not_allowed');
  // Visitors can read everything in a page, but not its cookie.
  const isSecretKey = caller.credential.kind === 'key' && sessionToken === undefined;
  if (origin !== undefined && isSecretKey) return new Problem('key_in_browser');
  // Only browsers send an origin. The list restricts neither apps on servers nor the proxy's own console.
  if (origin === undefined || caller.limits.origins.includes(origin)) return undefined;
  return new Problem('origin_not_allowed');
}

/**
 * Returns the person that a caller acts for. The owner of a personal credential always wins over X-Actor.
 * @param isPayment whether the request passes admission.
 * @throws Problem `invalid_actor`, because a lost name would let the same person request and approve.
 */
export async function onBehalfOf(
  call: AuthenticatedCall,
  persons: PersonsService,
  isPayment: boolean,
): Promise<CallPerson | null> {
  const { caller, claimedActor } = call;
  const identity = caller.identity ?? claimedIdentity(claimedActor);
  if (!identity) return null;
  const find = (name: { issuer: string | null; name: string }) =>
    persons.find(caller, name, { timeoutMs: remainingMs(call), isPayment }).catch(databaseUnavailable);
  const person = { ...(await find(identity)), source: identity.source };
  const { credential } = caller;
  const act = credential.kind === 'token' ? credential.claims.act : null;
  if (!act) return person;
  return { ...person, acting: await find({ issuer: act.issuer, name: act.subject }) };
}

function claimedIdentity(name: string | undefined) {
  if (name === undefined) return undefined;
  if (!isPersonId(name)) throw new Problem('invalid_actor');
  return { source: 'claimed', issuer: null, name } as const;
}
