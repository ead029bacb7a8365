import { watchOthers } from '../machine.ts'
import { disturbance, disturbs, machine, printColumns } from '../report.ts'
import type { Bench } from '../row.ts'
import { FIGURES, measureSize } from './figures.ts'
import { roundedSize } from './seed.ts'

/** Measures databases of several sizes, one after the other, and prints them side by side. */
export async function runGrowth(sizes: number[], bench: Bench, { json }: { json: boolean }): Promise<void> {
  const stored = sizes.map(roundedSize)
  const measured: number[][] = []
  const others: (number | undefined)[] = []
  for (const size of sizes) {
    const othersMeanwhile = watchOthers()
    measured.push(await measureSize(size, bench))
    others.push(othersMeanwhile())
  }
  const growth = stored.at(-1)! / stored[0]!
  const figures = FIGURES.map((figure, n) => {
    const values = measured.map((of) => of[n]!)
    return { ...figure, values, ratio: values.at(-1)! / values[0]! }
  })
  if (json) {
    console.log(
      JSON.stringify({ machine: machine(), seconds: bench.seconds, messages: stored, others, figures }, null, 2),
    )
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
  for (const [n, share] of others.entries()) {
    const size = stored[n]!.toLocaleString('en-US')
    if (disturbs(share)) console.log(`\n${size} messages: disturbed, ${disturbance(share)}`)
  }
  console.log(`\n${bench.seconds} s for each figure of a call, ${machine()}`)
}

function amount(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 })
}
