import { expect, it } from 'vitest'
import { readCookies } from '../../lib/core/headers.ts'

it.each<[header: string | null | undefined, value: string | undefined]>([
  [null, undefined],
  [undefined, undefined],
  ['', undefined],
  [';', undefined],
  ['ID', undefined],
  ['=a', undefined],
  ['ID=a', 'a'],
  ['ID=', ''],
  ['other=b; ID=a', 'a'],
  ['ID=a; other=b', 'a'],
  ['other=b;ID=a;', 'a'],
  ['  ID=a  ', 'a'],
  ['other="x; ID=a"', 'a"'],
  ['ID=a=b==', 'a=b=='],
  // Unchanged, so it matches no session: stored tokens have none of these characters.
  ['ID="a"', '"a"'],
  ['ID= a', ' a'],
  ['ID=a b', 'a b'],
  ['ID=a,b', 'a,b'],
  ['ID=%61', '%61'],
  ['ID=a\0', 'a\0'],
  ['ID=\u00E9', '\u00E9'],
  // Other names, however alike.
  ['id=a', undefined],
  ['ID =a', undefined],
  ['XID=a', undefined],
  ['IDX=a', undefined],
  ['__proto__=a', undefined],
  // One of two may be planted by a neighbouring host.
  ['ID=a; ID=b', undefined],
  ['ID=b; ID=a', undefined],
  ['ID=a; ID=', undefined],
  ['ID=; ID=a', undefined],
  ['ID=a; ID=b; ID=a', undefined],
  ['ID=a; other=b; ID="a"', undefined],
  ['ID=a; ID=a', 'a'],
])('of %j the cookie ID is %j', (header, value) => {
  expect(readCookies(header).get('ID')).toBe(value)
})
