import { beforeEach } from 'vitest'
import { ONE_PROCESS } from './one-process.ts'

interface Named {
  name: string
  suite?: Named
}

const fullName = ({ name, suite }: Named): string => (suite ? `${fullName(suite)} > ${name}` : name)

beforeEach(({ task, skip }) => {
  const listed = Object.entries(ONE_PROCESS.tests[task.file.name] ?? {})
  const reason = listed.find(([part]) => fullName(task).includes(part))?.[1]
  if (reason) skip(reason)
})
