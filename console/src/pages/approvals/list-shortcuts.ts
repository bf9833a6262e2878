import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import type { ApprovalRecord } from '../../api/generated/schema';
import { rowId } from './approval-list';
import { useShortcuts } from './shortcuts';

interface List {
  approvals: ApprovalRecord[] | undefined;
  id: string | undefined;
  choose: (id: string) => void;
  ask: (decision: 'approve' | 'reject') => void;
}

/** Moves through the list and decides with single keys. */
export function useListShortcuts({ approvals = [], id, choose, ask }: List) {
  const [, navigate] = useLocation();
  const at = approvals.findIndex((one) => one.id === id);
  const last = useRef(0);
  useEffect(() => {
    if (at >= 0) last.current = at;
  });
  const go = (step: 1 | -1) => {
    // A decided approval has left the list, and the next one took its position.
    const to = at >= 0 ? at + step : last.current - (step === 1 ? 0 : 1);
    const next = approvals[Math.max(0, Math.min(to, approvals.length - 1))];
    if (!next) return;
    choose(next.id);
    document.getElementById(rowId(next.id))?.focus();
  };
  const keys = [
    { key: 'j', description: 'Next approval (or arrow down)', act: () => go(1) },
    { key: 'ArrowDown', act: () => go(1) },
    { key: 'k', description: 'Previous approval (or arrow up)', act: () => go(-1) },
    { key: 'ArrowUp', act: () => go(-1) },
    {
      key: 'Enter',
      description: 'Open on its own page',
      act: () => id !== undefined && navigate(`/approvals/${id}`),
    },
    { key: 'a', description: 'Approve, after you enter a reason', act: () => ask('approve') },
    { key: 'r', description: 'Reject, after you enter a reason', act: () => ask('reject') },
  ];
  useShortcuts(keys);
  return keys;
}
