import { FastifyRequest } from 'fastify';
import { Problem } from '../../platform/errors/problem';
import { SentToken } from '../tokens/authorization';
import { checkProof } from '../tokens/dpop-proof';
import { invalidProof, invalidToken } from '../tokens/refusals';
import { UsedProofsService } from '../tokens/used-proofs.service';
import { isAdmitted } from './admitted';
import { leftOf } from './call';
import { ownAddressOf } from './own-origin';
import { Caller } from '../callers/caller';

/**
 * Requires that whoever sends a bound token has its key (RFC 9449). A bound token is never accepted as a bearer token, because
 * whoever stole it would send it that way.
 * @throws Problem `use_dpop`, `invalid_dpop_proof` or `invalid_token`.
 */
export async function requireProof(
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
  await proofs.use(proof, isAdmitted(request), leftOf(request.call));
}
