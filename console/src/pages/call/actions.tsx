import type { CallStory } from '../../api/generated/schema';
import { DataTable } from '../../components/lists/data-table';
import { Section } from '../../components/page/section';
import { COLUMNS } from '../activity/columns';

/** Shows what was changed shortly before the call and may have decided about it. */
export function Actions({ story: { acts_before: acts } }: { story: CallStory }) {
  if (acts.length === 0) return null;
  return (
    <Section
      title="Changes in the day before"
      lead="Actions on the client, stops, and changes of the configuration, newest first, at most 20."
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
