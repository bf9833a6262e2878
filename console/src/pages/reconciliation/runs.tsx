import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function RunsPage() {
  return (
    <Page title="Reconciliation">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
