// SPDX-License-Identifier: Apache-2.0
package io.postrider.lambda;

import com.amazonaws.services.lambda.runtime.ClientContext;
import com.amazonaws.services.lambda.runtime.CognitoIdentity;
import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.LambdaLogger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What Lambda tells a function about its run, on this machine. */
final class LocalContext implements Context {
    private final String requestId = UUID.randomUUID().toString();
    private final long endAt;

    LocalContext(Duration limit) {
        this.endAt = System.nanoTime() + limit.toNanos();
    }

    @Override
    public String getAwsRequestId() {
        return requestId;
    }

    @Override
    public int getRemainingTimeInMillis() {
        return (int) Math.max(0, (endAt - System.nanoTime()) / 1_000_000);
    }

    @Override
    public String getFunctionName() {
        return "postrider-drain";
    }

    @Override
    public String getFunctionVersion() {
        return "$LATEST";
    }

    @Override
    public String getInvokedFunctionArn() {
        return "arn:aws:lambda:local:000000000000:function:postrider-drain";
    }

    @Override
    public String getLogGroupName() {
        return "/aws/lambda/postrider-drain";
    }

    @Override
    public String getLogStreamName() {
        return "local";
    }

    @Override
    public int getMemoryLimitInMB() {
        return (int) (Runtime.getRuntime().maxMemory() >> 20);
    }

    @Override
    public @Nullable CognitoIdentity getIdentity() {
        return null;
    }

    @Override
    public @Nullable ClientContext getClientContext() {
        return null;
    }

    @Override
    public LambdaLogger getLogger() {
        return new LambdaLogger() {
            @Override
            public void log(String message) {
                System.err.println(message);
            }

            @Override
            public void log(byte[] message) {
                log(new String(message, StandardCharsets.UTF_8));
            }
        };
    }
}
