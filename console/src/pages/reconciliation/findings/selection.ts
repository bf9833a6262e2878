import { useCallback, useMemo, useState } from 'react';
import type { FindingRecord } from '../../../api/generated/schema';

/** Holds the selected findings as they were when selected, including those of other pages of the list. */
export function useSelection(shown: FindingRecord[] | undefined) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, FindingRecord>>(new Map());
  const add = useCallback((findings: FindingRecord[]) => {
    setChosen((before) => new Map([...before, ...findings.map((finding) => [finding.id, finding] as const)]));
  }, []);
  const choose = (ids: Set<string>) => {
    const known = new Map(shown?.map((finding) => [finding.id, finding]));
    setChosen((before) => new Map([...ids].flatMap((id) => entryOf(before.get(id) ?? known.get(id)))));
  };
  const drop = (ids: Iterable<string>) => {
    setChosen((before) => {
      const dropped = new Set(ids);
      return new Map([...before].filter(([id]) => !dropped.has(id)));
    });
  };
  const findings = useMemo(() => [...chosen.values()], [chosen]);
  return { findings, ids: useMemo(() => new Set(chosen.keys()), [chosen]), choose, add, drop };
}

const entryOf = (finding: FindingRecord | undefined) => (finding ? [[finding.id, finding] as const] : []);
