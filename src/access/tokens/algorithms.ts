/** The signatures that DPoP proofs may have. `WWW-Authenticate` tells them to apps. */
export const PROOF_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'RS256', 'PS256'] as const;
