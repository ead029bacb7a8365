import { effect, type Signal, signal } from '@preact/signals'
import { attempt } from './attempt.ts'

/**
 * A choice of the user that the browser keeps.
 *
 * @param key under which it is kept
 * @param values the first one is the default, and not kept
 */
export function keptChoice<Value extends string>(key: string, values: readonly Value[]): Signal<Value> {
  const kept = attempt(() => localStorage.getItem(key)) as Value | null | undefined
  const choice = signal(kept != null && values.includes(kept) ? kept : values[0]!)
  effect(() => {
    const { value } = choice
    attempt(() => (value === values[0] ? localStorage.removeItem(key) : localStorage.setItem(key, value)))
  })
  return choice
}
