/** Style sheet of the page: light and dark, on a screen and on paper. */
export const STYLE = `
:root{--paper:#fff;--ink:#17212b;--soft:#55626f;--rule:#dce2e8;--tint:#f5f7f9;--matched:#8ea6ba;
  --ours:#c98414;--theirs:#b3261e;--stripe:#e9a39d;--good:#1c6b43;--good-tint:#e9f5ee;--bad:#a51d16;
  --bad-tint:#fbeceb;--some-tint:#fdf4e3;--some:#7d5006;--low:#55626f;--more:#3d6b94;--less:#8a5fa8}
@media (prefers-color-scheme:dark){:root{--paper:#12181f;--ink:#e6ebf0;--soft:#9aa8b5;--rule:#2c3741;
  --tint:#1a222b;--matched:#5e788d;--ours:#e0a040;--theirs:#e2655c;--stripe:#7d2b25;--good:#6cc795;
  --good-tint:#14291f;--bad:#f08d85;--bad-tint:#331a19;--some-tint:#2d2413;--some:#e8b765;--low:#9aa8b5;
  --more:#7fb0dc;--less:#bd97d6}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:68rem;padding:2.5rem 2rem 3rem;background:var(--paper);color:var(--ink);
  font:16px/1.5 ui-sans-serif,system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
  font-variant-numeric:tabular-nums lining-nums}
h1,h2,h3,p,dl,dd,figure,ul{margin:0;padding:0}
h1{font-size:2.25rem;line-height:1.15;font-weight:650;letter-spacing:-.015em}
h2{font-size:1.25rem;line-height:1.3;font-weight:600}
h3{font-size:1.0625rem;line-height:1.4;font-weight:600}
code{font:.8125em/1.4 ui-monospace,"SF Mono",Menlo,Consolas,monospace;overflow-wrap:anywhere}
.kind{color:var(--soft);font-size:.8125rem;letter-spacing:.02em;margin-bottom:.375rem}
.kind span{padding:0 .25rem}
.result{display:inline-block;margin-top:.875rem;padding:.3125rem .75rem .3125rem .625rem;
  border-radius:.25rem;font-weight:600}
.result span{font-weight:400}
.mark{width:.8125rem;height:.8125rem;margin-right:.4375rem;vertical-align:-.0625rem;fill:currentColor}
.line{fill:none;stroke:currentColor;stroke-width:2.4}
.good{background:var(--good-tint);color:var(--good)}
.bad{background:var(--bad-tint);color:var(--bad)}
.some{background:var(--some-tint);color:var(--some)}
.facts{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:.75rem 2rem;margin-top:1.5rem;
  font-size:.875rem}
.facts dt,.label{color:var(--soft);font-size:.75rem}
.facts dd{overflow-wrap:anywhere}
main{margin-top:2.25rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.equation{border-top:1px solid var(--rule);padding-top:1.25rem}
.terms{display:grid;grid-template-columns:minmax(0,1fr) 1.75rem minmax(0,1fr) 1.75rem minmax(0,1fr);
  gap:.5rem 0;margin-top:.875rem;align-items:stretch}
.card{display:flex;flex-direction:column;padding:.625rem .875rem .6875rem;border:1px solid var(--rule);
  border-radius:.3125rem;background:var(--paper);position:relative;min-width:0}
.card .amount{font-size:1.25rem;line-height:1.35;text-align:right;font-weight:500;overflow-wrap:anywhere}
.card.strong{background:var(--tint)}
.card.strong .amount{font-weight:650}
.card.good,.card.bad{border-color:currentColor}
.card.good .label,.card.bad .label{color:inherit}
.balance{position:absolute;top:.625rem;right:.875rem;font-size:.75rem;font-weight:600}
.which{grid-column:1/-1;color:var(--soft);font-size:.8125rem;text-align:center}
.which::before,.which::after{content:"";display:inline-block;width:2.5rem;border-top:1px solid var(--rule);
  margin:0 .75rem;vertical-align:.25em}
.sign{align-self:center;text-align:center;color:var(--soft);font-size:1.125rem}
.alarm{margin-top:.75rem;padding:.625rem .875rem;border-left:.25rem solid var(--bad);
  background:var(--bad-tint);color:var(--bad);font-weight:500}
figure{margin-top:2.25rem;min-width:0}
figcaption{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;
  gap:.125rem 1.25rem;border-top:1px solid var(--rule);padding-top:1.25rem;margin-bottom:.75rem}
figcaption p{color:var(--soft);font-size:.8125rem;width:100%}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;font-size:.8125rem}
.legend svg{width:.75rem;height:.75rem;margin-right:.4375rem;vertical-align:-.0625rem}
.chart{display:block;width:100%;height:auto}
.chart text{fill:var(--ink);font-size:13px}
.chart .tick{fill:var(--soft);font-size:12px}
.end{text-anchor:end}
.middle{text-anchor:middle}
.chart .value{font-weight:500}
.axis{stroke:var(--soft);stroke-width:1}
.grid{stroke:var(--rule);stroke-width:1}
.matched{fill:var(--matched)}
.ours{fill:var(--ours)}
.theirs{fill:var(--theirs)}
.stripe{fill:var(--stripe)}
.hatched{fill:url(#hatch)}
.more{fill:var(--more)}
.less{fill:var(--less)}
.age{fill:var(--matched)}
.age-2{fill:var(--ours)}
.age-3{fill:var(--theirs)}
.note,.empty,p.more{color:var(--soft);font-size:.8125rem;margin-top:.5rem}
.empty{font-size:.9375rem;padding:1rem 0}
.pair{display:grid;grid-template-columns:minmax(0,4fr) minmax(0,3fr);gap:0 2.5rem;align-items:start}
main>h2{margin-top:2.75rem;border-top:1px solid var(--rule);padding-top:1.25rem}
.category{margin-top:1.75rem}
.category header{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.1875rem 1.5rem;
  align-items:baseline}
.sum{font-size:.875rem;color:var(--soft)}
.sum .amount{color:var(--ink);font-weight:600;margin-left:.625rem}
.sum code{margin-right:.375rem}
.meaning,.advice{grid-column:1/-1;font-size:.875rem;max-width:48rem}
.advice b{font-weight:600}
.severity{display:inline-flex;align-items:center;gap:.375rem;font-size:.75rem;font-weight:650;
  text-transform:uppercase;letter-spacing:.05em;margin-right:.5rem}
.severity svg{width:.75rem;height:.75rem;fill:currentColor}
.hollow{fill:none;stroke:currentColor;stroke-width:2.5}
.critical{color:var(--bad)}
.high{color:var(--some)}
.medium{color:var(--more)}
.low{color:var(--low)}
table{width:100%;border-collapse:collapse;table-layout:fixed;margin-top:.75rem;font-size:.8125rem;
  line-height:1.4}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.c-when{width:10.5%}.c-what{width:24%}.c-field{width:10.5%}.c-side{width:14.5%}.c-usd{width:12.5%}.c-state{
  width:13.5%}
th{text-align:left;font-weight:600;color:var(--soft);font-size:.75rem;border-bottom:1px solid var(--soft);
  padding:0 .625rem .3125rem 0;vertical-align:bottom}
td{padding:.4375rem .625rem .375rem 0;vertical-align:top;overflow-wrap:anywhere}
tbody{border-bottom:1px solid var(--rule)}
tbody tr+tr td{padding-top:0}
td:last-child,th:last-child{padding-right:0}
.number{text-align:right;padding-right:1.25rem}
td.number{font-weight:500;overflow-wrap:normal}
.payment dl div{display:flex;gap:.375rem}
.payment dt{color:var(--soft);flex:0 0 auto}
.payment dd{font:.75rem/1.5 ui-monospace,"SF Mono",Menlo,Consolas,monospace;min-width:0;
  overflow-wrap:anywhere}
.none{color:var(--soft);font-style:italic}
.state{font-weight:600}
.waits{color:var(--soft);white-space:nowrap}
.why{color:var(--soft)}
footer{margin-top:3rem;border-top:1px solid var(--rule);padding-top:.875rem;color:var(--soft);
  font-size:.8125rem}
@media screen and (max-width:46rem){body{padding:1.5rem 1rem}h1{font-size:1.75rem}.facts,.pair{
  grid-template-columns:minmax(0,1fr)}.terms{grid-template-columns:minmax(0,1fr)}.sign{line-height:1}
  .category header{grid-template-columns:minmax(0,1fr)}.wide .chart{min-width:34rem}.wide{overflow-x:auto}
  .category{overflow-x:auto}table{min-width:52rem}}
@page{size:A4;margin:16mm 14mm 18mm}
@media print{:root{--paper:#fff;--ink:#000;--soft:#47525c;--rule:#c9d0d7;--tint:#f3f5f7;--matched:#8ea6ba;
  --ours:#c98414;--theirs:#b3261e;--stripe:#e9a39d;--good:#1c6b43;--good-tint:#eef6f1;--bad:#a51d16;
  --bad-tint:#fbeeed;--some-tint:#fdf6e8;--some:#7d5006;--low:#47525c;--more:#3d6b94;--less:#8a5fa8}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
body{max-width:none;padding:0;font-size:10pt}h1{font-size:20pt}
figure,.equation,.card,tbody,.category header,footer{break-inside:avoid}
h2,h3,.category header,thead{break-after:avoid}
thead{display:table-header-group}
table{font-size:8pt}.payment dd{font-size:7pt}
.card .amount{font-size:12pt}
.wide .chart text{font-size:17px}.pair .chart text{font-size:14px}.c-when{width:12.5%}.c-what{width:22%}
figure{margin-top:16pt}main{margin-top:16pt}
main>h2{break-before:page;border-top:0;padding-top:0;margin-top:0}
p,li{orphans:3;widows:3}}
`;
