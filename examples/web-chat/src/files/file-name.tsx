import { cutName } from './cut-name.ts'

/** The name of a file. Where it is too long, it is cut in the middle: how a name ends says what the file is. */
export function FileName({ name }: { name: string }) {
  const [beginning, end] = cutName(name)
  return (
    <span class="file-name" dir="auto" title={name}>
      <span>{beginning}</span>
      {end}
    </span>
  )
}
