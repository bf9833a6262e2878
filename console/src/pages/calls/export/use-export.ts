import { useEffect, useRef, useState } from 'react';
import { raw, type RawHeaders, revealing } from '../../../api/client';
import { type CheckedExport, checkExport } from './export-check';
import { save, type SaveProgress } from '../../../api/save';
import type { Filters } from '../filters/filters';
import type { What } from '../list';

export interface Asked {
  what: What;
  format: 'csv' | 'ndjson';
  /** Whether people are unmasked. */
  reveal: boolean;
}

/** The state of an export. */
export type Exporting =
  | { state: 'none' }
  | { state: 'comes'; progress: SaveProgress | undefined }
  | { state: 'kept'; checked: CheckedExport; filename: string }
  | { state: 'failed'; error: unknown };

/** Downloads an export, checks it, and saves it. It ends with the dialog that started it. */
export function useExport(filters: Filters) {
  const [exporting, setExporting] = useState<Exporting>({ state: 'none' });
  const aborting = useRef<AbortController>(undefined);
  useEffect(() => () => aborting.current?.abort(), []);

  const begin = async ({ what, format, reveal }: Asked) => {
    const controller = new AbortController();
    aborting.current = controller;
    setExporting({ state: 'comes', progress: undefined });
    const filename = `payout-proxy-${what}-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}Z.${format}`;
    let checked: CheckedExport | undefined;
    try {
      await save(
        `/v1/audit/export?${new URLSearchParams({ ...filters, format, what }).toString()}`,
        filename,
        {
          signal: controller.signal,
          headers: revealing(reveal),
          onProgress: (progress) => setExporting({ state: 'comes', progress }),
          check: async (file, headers) => {
            checked = await checkExport(file, await readManifest(headers, revealing(reveal)));
          },
        },
      );
      if (checked) setExporting({ state: 'kept', checked, filename });
    } catch (error) {
      setExporting(controller.signal.aborted ? { state: 'none' } : { state: 'failed', error });
    }
  };
  return { exporting, begin, cancel: () => aborting.current?.abort() };
}

/** Reads the manifest that the export's header `Link` names. An incomplete export has none. */
async function readManifest(headers: Headers, sent: RawHeaders): Promise<string> {
  const [, path] = /^<([^>]+)>; *rel="describedby"/.exec(headers.get('link') ?? '') ?? [];
  if (path === undefined)
    throw new Error('The export has no link to a manifest. The file was discarded. Try again.');
  return (await raw(path, { headers: sent })).text();
}
