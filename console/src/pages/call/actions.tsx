import type { CallTimeline } from '../../api/generated/schema';
import { DataTable } from '../../components/lists/data-table';
import { Section } from '../../components/page/section';
import { COLUMNS } from '../activity/columns';

/** Shows the changes shortly before the call, which may explain its outcome. */
export function Actions({ timeline: { acts_before: acts } }: { timeline: CallTimeline }) {
  if (acts.length === 0) return null;
  return (
    <Section
      title="Changes in the day before"
      lead="Changes of the client, stops, and changes of the configuration. Newest first, at most 20."
    >
      <DataTable
        label="Changes"
        columns={COLUMNS}
        rows={acts}
        keyOf={({ id, action }) => `${action} ${id}`}
        empty="Nothing was changed."
      />
    </Section>
  );
}
