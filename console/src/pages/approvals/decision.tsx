import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api, http } from '../../api/client';
import type { ApprovalRecord, FullApprovalRecord } from '../../api/generated/schema';
import { ApiProblem } from '../../api/problem';
import { ReasonDialog } from '../../components/forms/reason-dialog';
import { summaryOf } from './summary';

type Decision = 'approve' | 'reject';

interface DecisionState {
  /** Opens the dialog, if the approval is still pending. */
  ask: (decision: Decision) => void;
  dialog: ReactNode;
  /** Result of the last decision, if it was about this approval. */
  decided: FullApprovalRecord | undefined;
}

const MAX_REASON = 1_000;

/** Decides about the shown approval and its exact content, even if another one is shown meanwhile. */
export function useDecision(shown: ApprovalRecord | undefined): DecisionState {
  const queries = useQueryClient();
  const [question, setQuestion] = useState<{ decision: Decision; approval: ApprovalRecord }>();
  const [decided, setDecided] = useState<FullApprovalRecord>();
  const keep = (approval: FullApprovalRecord | undefined) => {
    if (!approval) return;
    setDecided(approval);
    const path = { call_id: approval.id };
    queries.setQueryData(
      api.queryOptions('get', '/v1/approvals/{call_id}', { params: { path } }).queryKey,
      approval,
    );
  };
  const decide = async (reason: string) => {
    if (!question) return;
    try {
      keep(await send(question.decision, question.approval, reason));
    } catch (error) {
      void queries.invalidateQueries({ queryKey: ['get', '/v1/approvals/{call_id}'] });
      throw inPlace(error);
    } finally {
      void queries.invalidateQueries({ queryKey: ['get', '/v1/approvals'] });
    }
  };
  return {
    ask: (decision) => {
      if (shown?.approval?.status === 'pending') setQuestion({ decision, approval: shown });
    },
    decided: decided?.id === shown?.id ? decided : undefined,
    dialog: question && <DecisionDialog {...question} run={decide} close={() => setQuestion(undefined)} />,
  };
}

async function send(decision: Decision, { id, approval }: ApprovalRecord, reason: string) {
  const hash = approval?.content_hash ?? null;
  const init = {
    params: { path: { call_id: id } },
    body: { reason, ...(hash !== null && { content_hash: hash }) },
  };
  const { data } =
    decision === 'approve'
      ? await http.POST('/v1/approvals/{call_id}/approve', init)
      : await http.POST('/v1/approvals/{call_id}/reject', init);
  return data;
}

/** Replaces the proxy's message, which names API requests. This page shows the same information. */
function inPlace(error: unknown): unknown {
  if (!(error instanceof ApiProblem) || error.code !== 'already_decided') return error;
  return new Error(
    'This call was already decided. Nothing was changed. Close this dialog to see its current state.',
  );
}

interface QuestionProps {
  decision: Decision;
  approval: ApprovalRecord;
  run: (reason: string) => Promise<void>;
  close: () => void;
}

function DecisionDialog({ decision, approval, run, close }: QuestionProps) {
  const isYes = decision === 'approve';
  return (
    <ReasonDialog
      title={isYes ? 'Approve and send' : 'Reject'}
      action={isYes ? 'Approve and send' : 'Reject'}
      danger={!isYes}
      maxLength={MAX_REASON}
      decision={`${decision} ${approval.id}`}
      run={run}
      close={close}
    >
      <Text size="sm" className="wrap-anywhere">
        {summaryOf(approval)}.
      </Text>
      <Text size="sm" c="dimmed">
        {isYes
          ? 'The call is sent immediately, once, and exactly as requested.'
          : 'The call is never sent. The requester sees your reason.'}{' '}
        The reason is recorded permanently. Do not include names of people or secrets.
      </Text>
    </ReasonDialog>
  );
}
