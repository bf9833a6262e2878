import { raw } from '../api/client';

export interface SaveProgress {
  bytes: number;
  /** Lines that have come; of CSV and NDJSON, about as many as rows. */
  rows: number;
  /** How many rows there will be; undefined where the proxy could not count them at once. */
  total: number | undefined;
}

/**
 * Fetches a file and gives it to the browser to keep, telling how far it is.
 * @throws ApiProblem, or the AbortError of `signal`; then nothing is kept.
 */
export async function save(
  path: string,
  filename: string,
  {
    signal,
    onProgress,
    headers,
  }: { signal?: AbortSignal; onProgress?: (progress: SaveProgress) => void; headers?: HeadersInit } = {},
): Promise<void> {
  const response = await raw(path, { ...(signal && { signal }), ...(headers && { headers }) });
  const said = response.headers.get('x-total-count');
  const progress: SaveProgress = { bytes: 0, rows: 0, total: said === null ? undefined : Number(said) };
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = response.body?.getReader();
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done || !value) break;
    parts.push(value);
    progress.bytes += value.length;
    for (const byte of value) if (byte === 10) progress.rows += 1;
    onProgress?.({ ...progress });
  }
  const url = URL.createObjectURL(new Blob(parts, { type: response.headers.get('content-type') ?? '' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: filename });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser has long taken it by then
}
