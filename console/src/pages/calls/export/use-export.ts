import { useEffect, useRef, useState } from 'react';
import { raw, type RawHeaders, revealing } from '../../../api/client';
import { save, type SaveProgress } from '../../../api/save';
import type { Filters } from '../filters/filters';
import type { ListKind } from '../list';

export interface ExportRequest {
  what: ListKind;
  format: 'csv' | 'ndjson';
  /** Whether people are unmasked. */
  reveal: boolean;
}

/** State of an export. */
export type ExportJob =
  | { state: 'idle' }
  | { state: 'running'; progress: SaveProgress | undefined }
  | { state: 'saved'; checked: CheckedExport; filename: string }
  | { state: 'failed'; error: unknown };

/** Downloads, checks and saves an export. Closing the dialog cancels it. */
export function useExport(filters: Filters) {
  const [job, setJob] = useState<ExportJob>({ state: 'idle' });
  const aborting = useRef<AbortController>(undefined);
  useEffect(() => () => aborting.current?.abort(), []);

  const begin = async ({ what, format, reveal }: ExportRequest) => {
    const controller = new AbortController();
    aborting.current = controller;
    setJob({ state: 'running', progress: undefined });
    const time = new Date().toISOString().slice(0, 19).replaceAll(':', '');
    const filename = `payout-proxy-${what}-${time}Z.${format}`;
    let checked: CheckedExport | undefined;
    try {
      await save(
        `/v1/audit/export?${new URLSearchParams({ ...filters, format, what }).toString()}`,
        filename,
        {
          signal: controller.signal,
          headers: revealing(reveal),
          onProgress: (progress) => setJob({ state: 'running', progress }),
          check: async (file, headers) => {
            checked = await checkExport(file, await readManifest(headers, revealing(reveal)));
          },
        },
      );
      if (checked) setJob({ state: 'saved', checked, filename });
    } catch (error) {
      setJob(controller.signal.aborted ? { state: 'idle' } : { state: 'failed', error });
    }
  };
  return { job, begin, cancel: () => aborting.current?.abort() };
}

/** Reads the manifest from the `Link` header of the export. An incomplete export has none. */
async function readManifest(headers: Headers, sent: RawHeaders): Promise<string> {
  const [, path] = /^<([^>]+)>; *rel="describedby"/.exec(headers.get('link') ?? '') ?? [];
  if (path === undefined)
    throw new Error('The export has no link to a manifest. The file was discarded. Try again.');
  return (await raw(path, { headers: sent })).text();
}

/** Expected properties of an export. The proxy serves them with the file. */
interface Manifest {
  rows: number;
  /** SHA-256 of the file, in hex. */
  sha256: string;
}

interface CheckedExport {
  rows: number;
  /** False if the browser cannot compute checksums, which needs https or localhost. */
  summed: boolean;
  /** Manifest as the proxy wrote it, to store with the file. */
  manifest: Blob;
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BRACE = 0x7b;

/**
 * Compares an export with its manifest.
 * @throws Error that explains why the file is incomplete.
 */
async function checkExport(file: Blob, manifestText: string): Promise<CheckedExport> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const manifest = JSON.parse(manifestText) as Manifest;
  const rows = rowsIn(bytes);
  if (rows !== manifest.rows) {
    throw new Error(
      `The export has ${rows} rows, but its manifest says ${manifest.rows}. The file was discarded. ` +
        'Try again.',
    );
  }
  const summed = (globalThis.crypto as Partial<Crypto>).subtle !== undefined;
  if (summed && (await sha256(bytes)) !== manifest.sha256) {
    throw new Error(
      'The export was changed in transit: its SHA-256 differs from its manifest. The file was ' +
        'discarded. Try again.',
    );
  }
  return { rows, summed, manifest: new Blob([manifestText], { type: 'application/json' }) };
}

/** Counts rows. CSV has a heading, and its quoted line breaks continue a row. JSON lines have neither. */
function rowsIn(bytes: Uint8Array): number {
  const isCsv = bytes.length > 0 && bytes[0] !== BRACE;
  let quoted = false;
  let lines = 0;
  for (const byte of bytes) {
    if (byte === QUOTE && isCsv) quoted = !quoted;
    else if (byte === NEWLINE && !quoted) lines += 1;
  }
  return isCsv ? lines - 1 : lines;
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
