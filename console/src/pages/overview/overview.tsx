import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function OverviewPage() {
  return (
    <Page title="Overview">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
