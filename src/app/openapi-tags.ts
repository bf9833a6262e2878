/** The groups of routes (`@ApiTags`), in the order of the documents. */
const DESCRIPTIONS = {
  Send: 'Sends credits to recipients by email or handle.',
  Payouts: 'Pays recipients, and reads the state of each payout.',
  Account: "Reads and cancels the account's transactions, and pays sub-accounts.",
  Wallets: 'Reads wallets, and moves amounts between them.',
  'Sub-accounts': 'Creates and reads sub-accounts of the upstream account.',
  Info: 'Lists assets, countries, networks, and exchange rates.',
  Collections: 'Charges a mobile money wallet.',
  Redeem: 'Redeems a payment to a phone.',
  Preview:
    'Shows what would happen if you sent the request of an operation now. The preview of an invalid ' +
    'body lists all its errors.',
  Calls: 'Reads calls with their outcomes and receipts, and settles calls in doubt.',
  Limits: 'Reads the limits of your client, and how much of them is left.',
  'Ephemeral keys': 'Issues short-lived keys for one person, and revokes them.',
  'Page sessions': 'Reads and ends the session of a person on a page of your client.',
  Overview: 'Summarizes what needs attention.',
  Approvals: 'Decides about held calls.',
  Stops: 'Stops operations, and lifts stops.',
  Clients: 'Manages clients with their keys, limits, people, and recipients, and decides about changes.',
  Reconciliation:
    "Compares the records with the upstream's transactions or a statement, and decides about differences.",
  Audit: 'Searches, sums, and exports the history of all clients.',
  Log: 'Proves that the history is complete and unchanged.',
  Console: 'Signs people in to the console, and out again.',
  Sandbox: 'Sets how the embedded sandbox behaves. It does not exist in production.',
  Health: 'Reports liveness, readiness, and metrics.',
};

export const TAGS = Object.entries(DESCRIPTIONS).map(([name, description]) => ({ name, description }));
