import { machine, printColumns } from '../report.ts'
import type { Bench } from '../row.ts'
import { FIGURES, measureSize } from './figures.ts'
import { roundedSize } from './seed.ts'

/** Measures databases of several sizes, one after the other, and prints them side by side. */
export async function runGrowth(sizes: number[], bench: Bench, { json }: { json: boolean }): Promise<void> {
  const stored = sizes.map(roundedSize)
  const measured: number[][] = []
  for (const size of sizes) measured.push(await measureSize(size, bench))
  const growth = stored.at(-1)! / stored[0]!
  const figures = FIGURES.map((figure, n) => {
    const values = measured.map((of) => of[n]!)
    return { ...figure, values, ratio: values.at(-1)! / values[0]! }
  })
  if (json) {
    console.log(JSON.stringify({ machine: machine(), seconds: bench.seconds, messages: stored, figures }, null, 2))
    return
  }
  printColumns([
    ['figure', ...stored.map((size) => `${size.toLocaleString('en-US')} messages`), 'last / first', 'expected'],
    ...figures.map(({ name, unit, values, ratio, expected }) => [
      name,
      ...values.map((value) => `${amount(value)} ${unit}`),
      `${amount(ratio)}x`,
      expected === 'flat' ? '1x' : `<= ${amount(growth)}x`,
    ]),
  ])
  console.log(`\n${bench.seconds} s for each figure of a call, ${machine()}`)
}

function amount(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 })
}
