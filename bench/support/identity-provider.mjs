import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
/** An identity provider with one key, whose access tokens (RFC 9068) outlive any benchmark. */
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const AUDIENCE = 'https://payouts.example';
const APP = 'bench-app';
const ALGORITHM = 'ES256';

/** @param people how many people get a token. */
export async function startIdentityProvider(people) {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM);
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'bench', alg: ALGORITHM, use: 'sig' }];
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const tokenOf = (subject) =>
    new SignJWT({ client_id: APP, scope: 'pay write read' })
      .setProtectedHeader({ alg: ALGORITHM, kid: 'bench', typ: 'at+jwt' })
      .setIssuer(issuer)
      .setAudience(AUDIENCE)
      .setSubject(subject)
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime('30 days')
      .sign(privateKey);
  return {
    tokens: await Promise.all(Array.from({ length: people }, (_, place) => tokenOf(`person-${place}`))),
    /** The options of `clients create` for a client that takes its tokens. */
    options:
      `--token-issuer ${issuer} --token-audience ${AUDIENCE} --token-jwks-uri ${issuer}/jwks ` +
      `--token-client-id ${APP} --token-algorithms ${ALGORITHM}`,
    stop: () => server.close(),
  };
}
