import { useState } from 'react';
import { api, revealing, whilePaging } from '../../api/client';
import type { CallRecord } from '../../api/generated/schema';
import { CALL_COLUMNS } from './columns';
import { HistoryPage } from './history-page';
import { useList } from './list';
import { Rows } from './rows';

const keyOf = ({ id }: CallRecord) => id;

/** Shows the history by call. */
export default function CallsPage() {
  const [reveal, setReveal] = useState(false);
  const list = useList('calls', CALL_COLUMNS);
  const init = { params: { query: list.query }, headers: revealing(reveal) };
  const answer = api.useQuery('get', '/v1/audit/calls', init, whilePaging(reveal));
  const rows = answer.data?.calls;
  return (
    <HistoryPage
      lead="Every request of a known client with its outcome, including refused requests."
      list={list}
      reveal={reveal}
      setReveal={setReveal}
      count={rows?.length}
      next={answer.data?.next_page_token}
      error={answer.error}
    >
      <Rows list={list} answer={answer} rows={rows} columns={CALL_COLUMNS} keyOf={keyOf} />
    </HistoryPage>
  );
}
