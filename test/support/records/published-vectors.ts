/** Published examples of other implementations of transparency logs and signed notes. */

const bytes = (base64: string) => Buffer.from(base64, 'base64');
const each = (base64: string) => base64.split(' ').filter(Boolean).map(bytes);

/**
 * Trees of the CT reference leaves, from https://github.com/transparency-dev/merkle,
 * testdata/inclusion/<n>/happy-path.json.
 */
export const INCLUSIONS = [
  {
    index: 0,
    size: 8,
    root: 'XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=',
    leafHash: 'bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=',
    proof:
      'lqKW0iTyhcZ77pPDD4owkVfw2qNdxbh+QQt4YwoJz8c= Xwg/ChozygdqlSeYMlgNs+DvRYS9/x9UyKNg9Q3jAx4= ' +
      'a0eq8p7jwq+a+Im8H7klTavTEXfxYjLdaqsDXKOb9uQ=',
  },
  {
    index: 5,
    size: 8,
    root: 'XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=',
    leafHash: 'QnGia+DYqE8L1UyMMC58s6O10fpngKQLzOKHNHfatlg=',
    proof:
      'vBoGQ7EuTS18d5GPROD095qDi2z57FtcKD4fTYhZnms= yoVOoSjtBQtBs1/8G4e46yveRh6eO1WW7Oa51ZdaCuA= ' +
      '037kGJdt2VdTwcc4Yrk5j6Kiz5tP8P3+izDNlSCWFLc=',
  },
  {
    index: 2,
    size: 3,
    root: 'rra8/idLcKFPsGel5VeCZNsPqbUa9eC6FZFY8yngbnc=',
    leafHash: 'ApjRIpBtz8EIkstTpzmS/FufST6kybrbJ7eRtBJ6f+c=',
    proof: '+sVCA+fMaWzw38tCySodnbr3CtnmIfS9jZhmLwDjwSU=',
  },
  {
    index: 1,
    size: 5,
    root: 'Tju7H3tHjc/nH7YxYxUZo7yhLJrvyhYSv85ME6hiZNQ=',
    leafHash: 'lqKW0iTyhcZ77pPDD4owkVfw2qNdxbh+QQt4YwoJz8c=',
    proof:
      'bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0= Xwg/ChozygdqlSeYMlgNs+DvRYS9/x9UyKNg9Q3jAx4= ' +
      'vBoGQ7EuTS18d5GPROD095qDi2z57FtcKD4fTYhZnms=',
  },
].map(({ leafHash: hash, proof, root, ...place }) => ({
  ...place,
  leafHash: bytes(hash),
  proof: each(proof),
  root: bytes(root),
}));

/** From the same source, testdata/consistency/<n>/happy-path.json. */
export const CONSISTENCIES = [
  { from: 1, to: 1, fromRoot: 'bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=', proof: '' },
  {
    from: 1,
    to: 8,
    fromRoot: 'bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=',
    proof:
      'lqKW0iTyhcZ77pPDD4owkVfw2qNdxbh+QQt4YwoJz8c= Xwg/ChozygdqlSeYMlgNs+DvRYS9/x9UyKNg9Q3jAx4= ' +
      'a0eq8p7jwq+a+Im8H7klTavTEXfxYjLdaqsDXKOb9uQ=',
  },
  {
    from: 6,
    to: 8,
    fromRoot: 'duZ9rbzfHhDht03cYIq9L5jfsW+851J3tSMqEn8gh+8=',
    proof:
      'DrxdNDf74tsVi58Sah0RjjCBgQMdCpSfje3t68VY72o= yoVOoSjtBQtBs1/8G4e46yveRh6eO1WW7Oa51ZdaCuA= ' +
      '037kGJdt2VdTwcc4Yrk5j6Kiz5tP8P3+izDNlSCWFLc=',
  },
  {
    from: 2,
    to: 5,
    fromRoot: '+sVCA+fMaWzw38tCySodnbr3CtnmIfS9jZhmLwDjwSU=',
    proof: 'Xwg/ChozygdqlSeYMlgNs+DvRYS9/x9UyKNg9Q3jAx4= vBoGQ7EuTS18d5GPROD095qDi2z57FtcKD4fTYhZnms=',
  },
].map(({ fromRoot, proof, ...sizes }) => ({ ...sizes, fromRoot: bytes(fromRoot), proof: each(proof) }));
export const ROOTS: Record<number, Buffer> = {
  1: bytes('bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0='),
  5: bytes('Tju7H3tHjc/nH7YxYxUZo7yhLJrvyhYSv85ME6hiZNQ='),
  8: bytes('XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg='),
};

/**
 * A module's line in Go's checksum database, from https://github.com/transparency-dev/incubator,
 * cmd/tlog-verify/testdata.
 */
export const SUMDB_KEY = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8';
export const SUMDB_INDEX = 43_930_254;
export const SUMDB_LEAF =
  'github.com/transparency-dev/tessera v1.0.0 h1:4OT1V9xJLa5NnYlFWWlCdZkCm18/o12rdd+bCTje7XE=\n' +
  'github.com/transparency-dev/tessera v1.0.0/go.mod h1:TLvfjlkbmsmKVEJUtzO2eb9Q2IBnK3EJ0dI4G0oxEOU=\n';
export const SUMDB_PROOF = each(
  'Q2cuq1e21q4UC1RQ6wtmXmCxk2q3Wqz/yFvD12P2KSM= VdgHwjNYSv9fZVxvYzn8kySGvrjqeCnzdJqJILieWf4= ' +
    'ARfBpZjsj3LSP42V4xBVdCKbHVa4WXSbuFAa0rUSCVQ= 0VYgz0Vmgz6jOM8H6edZBWHtO6+R7tPvN4EOwwRRSws= ' +
    'vq+ifloynXE+ORFC1wymQT0cpNIJA1tqg2mQpA55+kc= SCRewH6vHE1/Vwkt5yEW8xT7il0WbWltXjFIVqlGtQQ= ' +
    'p//fIG8jgZie4MMwjHF7quCIJ4hErr7U4at0HV34MZQ= D3K5YdBlxQcklrgF8vSbDyT05J5/mA9lzuhhp72uSOk= ' +
    'jeYlYyH9FhYGwu+ZJmfPr8GvSNdgrydwqmJgHsygoR0= p6RFgfGhu8Uuy0LyyZdI4MrSPOZkMe+ycwWJFfr8zTI= ' +
    'AMZsxrVKBPSe8nSNVVCTyTxWns0CiNbChG/FoiSJWuM= e+rtSmK5Pd1K5LgFwj7VSo5XJXOcq7OOcqPVZn1hqeM= ' +
    'expmv1e6XiGr5NMUjMRkSZijlcBx+fZcpqQmUnawhOY= +Wuic0YARH84k80/Q+KJIbhRCldxG8npjLFiHMLtEpo= ' +
    'NOMeJqlyUxFXUKYRI/1YqAF4WJBfXJr8UM/SlWGqxgY= Lm6+TAlLb2lvUs/3unZ2t6RSmJw8RO+WuEuUbAw3QEc= ' +
    'Jhh2EDG15gDBoLmLiF88lVTgd+uvx3L0xczb8Y3kSq8= taenaiKqtYMXS3gDzIF3q8VZzqAXqftHqL9BC39njaw= ' +
    'kZNKypGwEANnt1+msLINnqrIrwX+0MGZUTTKXTfbloI= A4NJSymjVJ5dvGPaGC3Gj04x8qVRKYfh0pP24mwd6Yk= ' +
    'KQq808D9W4NUgr4ip+rF/RCyAUERYKKCwKiiAJfaFOc= I3EVN3zM2rDjs5Q06Zr5gxhg+ksnX2h77E75uL+h3aI= ' +
    '7iNSYSDhMeRkeV7r9krKbKelNPiqDCJU1i6xAn/Fbuw= MYqdo6zSjxaAn+29EEjNRbPYm0myB3bheu+HTZIAbVY= ' +
    'S7olT9TPLXk+bbawbV3sAzWMmhcpWrtjbw++9ZTiyn8= xJ20xXM4QItt5vxFOtolZ5l18p7ej1+RimNkgWmoRFM=',
);
export const SUMDB_ROOT = bytes('lIyLAEe4zJUQAda6pFFg3yPOf7j1SgfMEDrpgoX39JU=');
export const SUMDB_CHECKPOINT = `go.sum database tree
58253265
lIyLAEe4zJUQAda6pFFg3yPOf7j1SgfMEDrpgoX39JU=

\u2014 sum.golang.org Az3grkvBHbFcpEFQ3BhGlktgB7pcswIW+ez91eWY6rNPtWfAey8bJO2rVoG2yO5zXvgiaikWVHqon+e14JhA+WXvpAY=
`;

/** Examples of https://pkg.go.dev/golang.org/x/mod/sumdb/note. */
export const GO_SIGNING_KEY =
  'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz';
export const GO_KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
export const GO_TEXT = `If you think cryptography is the answer to your problem,
then you don't know what your problem is.
`;
export const GO_NOTE = `${GO_TEXT}
\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
`;
export const GO_OTHER_KEY = 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop';
export const GO_OTHER_SIGNATURE =
  '\u2014 EnochRoot ' +
  'rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n';

/** Example of https://c2sp.org/signed-note. */
export const C2SP_KEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
export const C2SP_NOTE = `This is an example message.

\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;
