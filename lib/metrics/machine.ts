import type { Family } from './page.ts'

/** What a process knows of itself and its machine at the moment of a page. */
export interface MachineLevels {
  /** What `/readyz` would return at this moment, by check; `undefined` if the checks take too long. */
  ready?: Record<string, boolean> | undefined
  /** The free bytes of the disks of this machine, by what is on them. */
  disks?: Record<string, number>
}

/** Whether the process is ready, and what room its disks have. */
export function machineFamilies({ ready = {}, disks = {} }: MachineLevels): Family[] {
  const samples = (values: Record<string, number | boolean>, label: string) => () =>
    Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value: Number(value) }))
  return [
    {
      name: 'chat_ready',
      help: 'Whether each check of /readyz succeeds at this moment',
      type: 'gauge',
      together: 'min',
      read: samples(ready, 'check'),
    },
    {
      name: 'chat_disk_free_bytes',
      help: 'Room on the disks of this machine: none for buckets, and for PostgreSQL',
      type: 'gauge',
      together: 'min',
      read: samples(disks, 'of'),
    },
  ]
}
