import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function ApprovalsPage() {
  return (
    <Page title="Approvals">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
