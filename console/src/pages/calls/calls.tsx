import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function CallsPage() {
  return (
    <Page title="Calls">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
