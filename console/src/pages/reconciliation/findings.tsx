import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function FindingsPage() {
  return (
    <Page title="Findings">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
