import { useState } from 'react';
import { api, revealing, whilePaging } from '../../api/client';
import type { ItemRecord } from '../../api/generated/schema';
import { PAYOUT_COLUMNS } from './columns';
import { HistoryPage } from './history-page';
import { useList } from './list';
import { Rows } from './rows';

const keyOf = ({ id, item }: ItemRecord) => `${id}/${item.position}`;

/** Shows the history by payout. */
export default function PayoutsPage() {
  const [reveal, setReveal] = useState(false);
  const list = useList('items', PAYOUT_COLUMNS);
  const init = { params: { query: list.query }, headers: revealing(reveal) };
  const answer = api.useQuery('get', '/v1/audit/items', init, whilePaging(reveal));
  const rows = answer.data?.items;
  return (
    <HistoryPage
      lead="Every payout of every call, with its recipient, amount, and outcome."
      list={list}
      reveal={reveal}
      setReveal={setReveal}
      count={rows?.length}
      next={answer.data?.next_page_token}
      error={answer.error}
    >
      <Rows list={list} answer={answer} rows={rows} columns={PAYOUT_COLUMNS} keyOf={keyOf} />
    </HistoryPage>
  );
}
