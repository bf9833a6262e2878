import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function PayoutsPage() {
  return (
    <Page title="Payouts">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
