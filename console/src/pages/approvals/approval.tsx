import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function ApprovalPage() {
  return (
    <Page title="Approval">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
