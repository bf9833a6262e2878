/** The errors about the HTTP message itself, before anything in it is read. */
export const TRANSPORT = {
  misdirected_request: {
    status: 421,
    text: 'This proxy does not serve the host that the request names. Nothing was done. Call the address that PUBLIC_URL sets, or ask the operator to add yours to it.',
  },
  method_not_allowed: {
    status: 405,
    text: 'This path has another method. The header Allow names it. /docs lists every route.',
  },
  unsupported_encoding: {
    status: 415,
    text: 'The body is compressed, which the proxy does not read. Nothing was done. Send the same body again without Content-Encoding.',
  },
  expectation_not_met: { status: 417, text: 'The header Expect accepts only 100-continue. Omit it.' },
  headers_too_large: {
    status: 431,
    text: 'The headers of the request exceed 16 KiB. Nothing was done. Send fewer or shorter headers. If an access token takes most of it, let the identity provider leave its groups out.',
  },
  request_timeout: {
    status: 408,
    text: 'The complete request did not arrive in time. Nothing was done. Send it again on a new connection.',
  },
} as const;
