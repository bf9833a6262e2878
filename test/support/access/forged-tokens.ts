import { createHmac, randomUUID } from 'node:crypto';
import { encoded, newSigningKey, signed, TokenIssuer } from './token-issuer';

type Forgery = [attack: string, token: string];

/** Returns tokens of known attacks on JWTs. `issuer` publishes an ES256 key. */
export async function forgedTokens(issuer: TokenIssuer): Promise<Forgery[]> {
  const kinds = [unsigned, confused, withOwnKeys, ofStrangers, outOfTime, incomplete, misspelled];
  return (await Promise.all(kinds.map((forge) => forge(issuer)))).flat();
}

/** Missing or empty signatures. */
async function unsigned(issuer: TokenIssuer): Promise<Forgery[]> {
  const [header = '', payload = '', signature = ''] = (await issuer.token()).split('.');
  const claims = encoded(issuer.claims());
  const none = ['none', 'None', 'NONE', 'nOnE', '', null, 0, ['none'], { alg: 'none' }, undefined];
  const changed = encoded(issuer.claims({ sub: 'bob' }));
  return [
    ...none.map((alg): Forgery => [
      `alg ${JSON.stringify(alg)}`,
      `${encoded(issuer.header({ alg }))}.${claims}.`,
    ]),
    ...none.map((alg): Forgery => [
      `alg ${JSON.stringify(alg)}, with a signature`,
      `${encoded(issuer.header({ alg }))}.${claims}.${signature}`,
    ]),
    ['no signature', `${header}.${payload}.`],
    ['two parts', `${header}.${payload}`],
    ['four parts', `${header}.${payload}.${signature}.${signature}`],
    ['five parts, as a JWE', `${header}.${payload}.${signature}.${payload}.${signature}`],
    ['a psychic signature (r = s = 0)', `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`],
    [
      'an empty DER signature',
      `${header}.${payload}.${Buffer.from('3006020100020100', 'hex').toString('base64url')}`,
    ],
    ['the signature of another token', `${header}.${changed}.${signature}`],
    ['another header', `${encoded(issuer.header({ x: 1 }))}.${payload}.${signature}`],
  ];
}

/** Signatures by an algorithm other than the key's. */
async function confused(issuer: TokenIssuer): Promise<Forgery[]> {
  const { publicJwk, kid } = issuer.key;
  const secrets = { 'the JWK': JSON.stringify(publicJwk), 'its x': publicJwk.x ?? '', 'an empty key': '' };
  const hmac = (alg: string, secret: string) => {
    const input = `${encoded(issuer.header({ alg }))}.${encoded(issuer.claims())}`;
    return `${input}.${createHmac(`sha${alg.slice(2)}`, secret)
      .update(input)
      .digest('base64url')}`;
  };
  const rsa = await newSigningKey('RS256', kid);
  return [
    ...['HS256', 'HS384', 'HS512'].flatMap((alg) =>
      Object.entries(secrets).map(([name, secret]): Forgery => [`${alg} with ${name}`, hmac(alg, secret)]),
    ),
    ['an algorithm that the client does not allow', await issuer.token({}, {}, rsa)],
    ['an unknown algorithm', await issuer.token({}, { alg: 'ES256K' })],
    ['the algorithm in another case', await issuer.token({}, { alg: 'es256' })],
    ['ES384 with a P-256 key', await issuer.token({}, { alg: 'ES384' })],
  ];
}

/** Signatures by a key that the token contains or names. */
async function withOwnKeys(issuer: TokenIssuer): Promise<Forgery[]> {
  const own = await newSigningKey();
  const { kid } = issuer.key;
  const x5c = [Buffer.from('not a certificate').toString('base64')];
  const references = {
    jku: issuer.jwksUri.replace('jwks', 'forged'),
    x5u: 'http://127.0.0.1:9/cert',
    jwk: own.publicJwk,
    x5c,
  };
  const texts = ['', '../../../../dev/null', "' OR 1=1 --", '__proto__', 'a'.repeat(4_000)];
  const kids = [...texts, ['x'], { a: 1 }, 0, null];
  return [
    ...(await Promise.all(
      Object.entries(references).map(async ([name, value]): Promise<Forgery> => [
        `its own key by ${name}`,
        await issuer.token({}, { kid, [name]: value }, own),
      ]),
    )),
    ...(await Promise.all(
      kids.map(async (odd): Promise<Forgery> => [
        `kid ${JSON.stringify(odd).slice(0, 30)}`,
        await issuer.token({}, { kid: odd }, own),
      ]),
    )),
    ['another key of the same kid', await issuer.token({}, { kid }, own)],
    ['another key and no kid', await issuer.token({}, { kid: undefined }, own)],
    ['crit', await issuer.token({}, { crit: ['exp'] })],
    ['crit b64', await issuer.token({}, { crit: ['b64'], b64: false })],
  ];
}

/** Signed tokens of the same provider, for another purpose. */
async function ofStrangers(issuer: TokenIssuer): Promise<Forgery[]> {
  const texts = ['JWT', 'jwt', 'logout+jwt', 'dpop+jwt', 'id_token', '', 'at+jwt ', 'application/jwt'];
  const types = [...texts, 1, undefined];
  const others: [string, object][] = [
    ['another issuer', { iss: 'https://evil.example' }],
    ['an issuer with a slash more', { iss: `${issuer.issuer}/` }],
    ['a list of issuers', { iss: [issuer.issuer] }],
    ['another audience', { aud: 'https://other.example' }],
    ['other audiences', { aud: ['https://other.example', `${issuer.audience}/`] }],
    ['an audience that begins alike', { aud: `${issuer.audience}.evil.example` }],
    ['another app', { client_id: 'other-app' }],
    ['a list of apps', { client_id: [issuer.clientId] }],
    ['an ID token', { client_id: undefined, aud: issuer.clientId, nonce: randomUUID() }],
    ['a certificate binding', { cnf: { 'x5t#S256': 'A'.repeat(43) } }],
    ['an odd binding', { cnf: 'x' }],
  ];
  return [
    ...(await Promise.all(
      types.map(async (typ): Promise<Forgery> => [
        `typ ${JSON.stringify(typ)}`,
        await issuer.token({}, { typ }),
      ]),
    )),
    ...(await Promise.all(
      others.map(async ([attack, claims]): Promise<Forgery> => [attack, await issuer.token({ ...claims })]),
    )),
  ];
}

async function outOfTime(issuer: TokenIssuer): Promise<Forgery[]> {
  const now = Math.floor(Date.now() / 1_000);
  const times: [string, object][] = [
    ['expired', { exp: now - 1, iat: now - 300 }],
    ['expired long ago', { exp: 1, iat: 0 }],
    ['not yet valid', { nbf: now + 3_600 }],
    ['issued in the future', { iat: now + 3_600, exp: now + 7_200 }],
    ['exp as a text', { exp: String(now + 300) }],
    ['exp beyond all times', { exp: 1e300 }],
    ['exp null', { exp: null }],
    ['nbf as a text', { nbf: '0' }],
    ['iat negative', { iat: -1 }],
  ];
  return Promise.all(
    times.map(async ([attack, claims]): Promise<Forgery> => [attack, await issuer.token({ ...claims })]),
  );
}

async function incomplete(issuer: TokenIssuer): Promise<Forgery[]> {
  const required = ['iss', 'aud', 'sub', 'client_id', 'jti', 'iat', 'exp'];
  const odd: unknown[] = [undefined, null, '', {}, [], true];
  const texts = ['sub', 'jti'].flatMap((name) => [
    [name, 'x'.repeat(501)],
    [name, 'nul \u0000'],
    [name, 'half \ud800'],
    [name, 7],
  ]) as [string, unknown][];
  const cases = [
    ...required.flatMap((name) => odd.map((value): [string, unknown] => [name, value])),
    ...texts,
  ];
  return Promise.all(
    cases.map(async ([name, value]): Promise<Forgery> => [
      `${name} ${JSON.stringify(value)?.slice(0, 20)}`,
      await issuer.token({ [name]: value }),
    ]),
  );
}

/** Signed tokens in an ambiguous spelling. */
async function misspelled(issuer: TokenIssuer): Promise<Forgery[]> {
  const token = await issuer.token();
  const [header = '', payload = '', signature = ''] = token.split('.');
  const { key } = issuer;
  const json = JSON.stringify(issuer.claims());
  const lastBits = `${signature.slice(0, -1)}${String.fromCharCode(signature.charCodeAt(85) + 1)}`;
  return [
    ['padding', `${header}.${payload}.${signature}==`],
    ['unused bits of base64', `${header}.${payload}.${lastBits}`],
    ['a space inside', `${header}. ${payload}.${signature}`],
    ['a newline in base64', `${header}.${payload.slice(0, 8)}\n${payload.slice(8)}.${signature}`],
    ['standard base64', `${header}.${payload}.${signature.slice(0, -1)}+`],
    ['two members of one name', await signed(issuer.header(), json.replace('{', '{"sub":"bob",'), key)],
    [
      'two members, one escaped',
      await signed(issuer.header(), json.replace('{', '{"s\\u0075b":"bob",'), key),
    ],
    [
      'two algorithms',
      await signed(JSON.stringify(issuer.header()).replace('{', '{"alg":"none",'), json, key),
    ],
    ['a list as the payload', await signed(issuer.header(), `[${json}]`, key)],
    ['no JSON', await signed(issuer.header(), 'sub=alice', key)],
    ['JSON with a byte order mark', await signed(issuer.header(), `\ufeff${json}`, key)],
    ['no JWT', 'opaque-token'],
    ['dots only', '..'],
    ['empty', ''],
    ['the JSON serialization', encoded({ protected: header, payload, signature })],
  ];
}
