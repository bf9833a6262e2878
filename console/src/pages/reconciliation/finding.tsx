import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function FindingPage() {
  return (
    <Page title="Finding">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
