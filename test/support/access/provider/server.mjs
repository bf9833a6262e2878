import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import Provider, { interactionPolicy } from 'oidc-provider';
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';
import { loginPage, messagePage } from './pages.mjs';

/** An OpenID provider for tests. startProvider in ../provider.ts starts it, and controls it over IPC. */
const options = JSON.parse(process.argv[2] ?? '{}');

const PASSWORD_ACR = 'urn:test:password';
const SECOND_FACTOR_ACR = 'urn:test:second-factor';

/** Storage of the providers before and after a key rotation, so sign-ins survive it. */
const adapter = createMemoryAdapter();
/** Number of requests per path. */
const requests = {};
let issuer;
let provider;

const server = createServer((request, response) => {
  const path = new URL(request.url, issuer).pathname;
  requests[path] = (requests[path] ?? 0) + 1;
  const interaction = /^\/interaction\/[\w-]+$/.test(path);
  if (interaction) return interact(request, response).catch((error) => fail(response, error));
  return provider.callback()(request, response);
});

function newProvider() {
  const created = new Provider(issuer, {
    adapter,
    jwks: { keys: [newKey('RS256'), newKey('ES256')] },
    cookies: { keys: ['a cookie key of the test provider'] },
    clients: options.clients,
    findAccount: (_ctx, sub) => accountOf(sub),
    acrValues: [PASSWORD_ACR, SECOND_FACTOR_ACR],
    claims: {
      openid: ['sub', 'acr', 'auth_time', 'sid'],
      email: ['email', 'email_verified'],
      profile: ['name'],
      groups: ['groups'],
    },
    conformIdTokenClaims: false, // most providers include the claims in the ID token
    scopes: ['openid', 'offline_access', 'email', 'profile', 'groups'],
    pkce: { required: () => true },
    clientBasedCORS: () => true,
    interactions: { policy: policy(), url: (_ctx, { uid }) => `/interaction/${uid}` },
    loadExistingGrant: grantEverything,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    extraTokenClaims,
    fetch: (url, { dispatcher: _refusesLoopback, ...request }) => fetch(url, request),
    renderError: (ctx, out) => {
      ctx.type = 'html';
      ctx.body = messagePage('Error', JSON.stringify(out));
    },
    ttl: {
      AccessToken: options.accessTokenSeconds,
      IdToken: 300,
      Interaction: 600,
      Session: 86_400,
      Grant: 86_400,
      RefreshToken: 86_400,
    },
    features: features(),
  });
  created.on('server_error', (_ctx, error) => process.stderr.write(`${error.stack}\n`));
  return created;
}

function features() {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: true },
    claimsParameter: { enabled: true },
    revocation: { enabled: true, allowedPolicy: () => true },
    introspection: { enabled: true, allowedPolicy: () => true },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx, form) => {
        ctx.body = messagePage(
          'Sign out',
          'Do you want to sign out?',
          `${form}<button form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button>`,
        );
      },
      postLogoutSuccessSource: (ctx) => {
        ctx.body = messagePage('Signed out', 'You are signed out.');
      },
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => options.defaultResource,
      useGrantedResource: () => options.defaultResource !== undefined,
      getResourceServerInfo: (_ctx, resource) => ({
        scope: options.scopes.join(' '),
        audience: resource,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: options.accessTokenAlgorithm } },
        accessTokenTTL: options.accessTokenSeconds,
      }),
    },
  };
}

/** Like most providers, requests a new sign-in if the current one lacks the requested `acr_values`. */
function policy() {
  const prompts = interactionPolicy.base();
  const { Check } = interactionPolicy;
  const isMissing = ({ oidc }) => {
    const requested = oidc.params.acr_values?.split(' ') ?? [];
    const isDone = requested.length === 0 || requested.includes(oidc.acr) || oidc.result?.login !== undefined;
    return isDone ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
  };
  prompts.get('login').checks.add(new Check('acr_values', 'a stronger sign-in is required', isMissing));
  return prompts;
}

/** Requests no consent, because all clients belong to the company. */
async function grantEverything({ oidc }) {
  const { client, session, params } = oidc;
  const grant = new oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(params.scope);
  const resources = [params.resource ?? options.defaultResource].flat().filter(Boolean);
  for (const resource of resources) grant.addResourceScope(resource, options.scopes.join(' '));
  await grant.save();
  return grant;
}

function extraTokenClaims({ oidc }, token) {
  const { authTime, acr } = oidc.entities.AuthorizationCode ?? oidc.entities.RefreshToken ?? {};
  return { auth_time: authTime, acr, ...options.accounts[token.accountId]?.accessTokenClaims };
}

function accountOf(sub) {
  const account = options.accounts[sub];
  return account && { accountId: sub, claims: () => ({ sub, ...account.claims }) };
}

async function interact(request, response) {
  const { params, uid } = await provider.interactionDetails(request, response);
  const wantsSecondFactor = params.acr_values?.split(' ').includes(SECOND_FACTOR_ACR) ?? false;
  if (request.method !== 'POST') return html(response, loginPage({ uid, wantsSecondFactor }));
  const form = new URLSearchParams(await textOf(request));
  const name = form.get('username') ?? '';
  const isRight = form.get('password') === options.password && options.accounts[name] !== undefined;
  if (!isRight)
    return html(response, loginPage({ uid, wantsSecondFactor, error: 'Wrong name or password.' }));
  const hasSecondFactor = (form.get('code') ?? '') !== '';
  const login = hasSecondFactor
    ? { accountId: name, acr: SECOND_FACTOR_ACR, amr: ['pwd', 'otp'] }
    : { accountId: name, acr: PASSWORD_ACR, amr: ['pwd'] };
  return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
}

function html(response, page) {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
}

function fail(response, error) {
  response.writeHead(400, { 'content-type': 'text/html; charset=utf-8' });
  response.end(
    messagePage('Error', `${error.error ?? error.name}: ${error.error_description ?? error.message}`),
  );
}

async function textOf(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

function newKey(alg) {
  const [type, parameters] =
    alg === 'RS256' ? ['rsa', { modulusLength: 2048 }] : ['ec', { namedCurve: 'P-256' }];
  const { privateKey } = generateKeyPairSync(type, parameters);
  return { ...privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: randomUUID() };
}

const listen = (port) =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server.address().port));
  });

const COMMANDS = {
  addClient: (client) => adapter('Client').upsert(client.client_id, client),
  rotateKeys: () => {
    provider = newProvider();
  },
  goDown: async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  },
  goUp: () => listen(new URL(issuer).port),
  requests: () => requests,
};

process.on('message', async ({ id, command, given }) => {
  try {
    process.send({ id, answer: (await COMMANDS[command](given)) ?? null });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
});
process.on('disconnect', () => process.exit(0)); // the test has ended

issuer = `http://${options.host}:${await listen(options.port)}`;
provider = newProvider();
process.send({ issuer });
