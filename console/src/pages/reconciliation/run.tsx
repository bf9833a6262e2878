import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function RunPage() {
  return (
    <Page title="Run">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
