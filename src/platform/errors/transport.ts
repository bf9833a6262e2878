import { kinds } from './kinds';

/** The errors about the HTTP message itself, before anything in it is read. */
export const TRANSPORT = {
  ...kinds(421, 'fix_request', {
    misdirected_request:
      'This proxy does not serve the host that the request names. Nothing was done. Call the address ' +
      'that PUBLIC_URL sets, or ask the operator to add yours to it.',
  }),
  ...kinds(405, 'fix_request', {
    method_not_allowed:
      'This path does not have this method. The header Allow lists its methods. /docs lists every route.',
  }),
  ...kinds(415, 'fix_request', {
    unsupported_encoding:
      'The proxy does not accept compressed bodies. Nothing was done. Send the same body without ' +
      'Content-Encoding.',
  }),
  ...kinds(417, 'fix_request', {
    expectation_not_met: 'The header Expect accepts only 100-continue. Omit it.',
  }),
  ...kinds(431, 'fix_request', {
    headers_too_large:
      'The headers of the request exceed 16 KiB. Nothing was done. Send fewer or shorter headers. If the ' +
      'access token is too long, omit its groups at the identity provider.',
  }),
  ...kinds(408, 'retry_same_key', {
    request_timeout:
      'The complete request did not arrive in time. Nothing was done. Send it again on a new connection.',
  }),
};
