import { useEffect, useRef, useState } from 'react';
import { raw, type RawHeaders, revealing } from '../../../api/client';
import { save, type SaveProgress } from '../../../api/save';
import type { Filters } from '../filters/filters';
import type { ListKind } from '../list';
import { type CheckedExport, checkExport } from './export-check';

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
