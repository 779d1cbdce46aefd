#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Postrider's command line: these lines, and a jar behind them. POSTRIDER_JAVA_OPTS goes to java.
java=java
if [ -n "${JAVA_HOME:-}" ]; then java=$JAVA_HOME/bin/java; fi
if ! command -v "$java" >/dev/null 2>&1; then
  echo "postrider: needs Java 17 or later: put java on the PATH or set JAVA_HOME." >&2
  exit 1
fi
terminal=false
if [ -t 1 ]; then terminal=true; fi
# A command shall start fast; a server shall run fast, and end rather than limp on without memory.
options="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
case " $* " in
  *" serve "*) options="-XX:+ExitOnOutOfMemoryError" ;;
esac
# shellcheck disable=SC2086
exec "$java" $options -Dpostrider.terminal=$terminal ${POSTRIDER_JAVA_OPTS:-} -jar "$0" "$@"
