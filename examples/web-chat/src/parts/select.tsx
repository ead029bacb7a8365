import { useId } from 'preact/hooks'

interface SelectProps<Value extends string> {
  label: string
  /** Whether the label is only read aloud. */
  isLabelHidden?: boolean
  value: Value
  options: readonly (readonly [value: Value, text: string])[]
  disabled?: boolean
  onChange: (value: Value) => void
}

/** One of a few values; it shows the given one until that changes. */
export function Select<Value extends string>({ label, isLabelHidden, options, onChange, ...rest }: SelectProps<Value>) {
  const id = useId()
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? 'hidden' : undefined}>
        {label}
      </label>
      <select id={id} {...rest} onChange={(event) => onChange(event.currentTarget.value as Value)}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}
